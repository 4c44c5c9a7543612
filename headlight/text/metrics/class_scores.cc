#include "headlight/text/metrics/class_scores.h"

namespace headlight {
namespace {

double Share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double ClassCounts::precision() const { return Share(both, found); }
double ClassCounts::recall() const { return Share(both, right); }
double ClassCounts::f1() const { return Share(2 * both, right + found); }

void ClassScores::Add(std::int32_t right, std::int32_t found) {
  ++count_;
  ++classes_.at(static_cast<std::size_t>(right)).right;
  if (found >= 0) ++classes_.at(static_cast<std::size_t>(found)).found;
  if (right != found) return;
  ++classes_[static_cast<std::size_t>(right)].both;
  ++right_;
}

double ClassScores::accuracy() const { return Share(right_, count_); }

double ClassScores::macro_f1() const {
  double sum = 0;
  std::int64_t seen = 0;
  for (const ClassCounts& one : classes_) {
    if (one.right + one.found == 0) continue;
    sum += one.f1();
    ++seen;
  }
  return seen == 0 ? 0 : sum / static_cast<double>(seen);
}

}  // namespace headlight
