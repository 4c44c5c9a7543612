#include "headlight/text/metrics/class_scores.h"

namespace headlight {
namespace {

double Share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double ClassCounts::precision() const { return Share(true_positives, predicted); }
double ClassCounts::recall() const { return Share(true_positives, labeled); }
double ClassCounts::f1() const { return Share(2 * true_positives, labeled + predicted); }

void ClassScores::Add(std::int32_t label, std::int32_t predicted) {
  ++count_;
  ++classes_.at(static_cast<std::size_t>(label)).labeled;
  if (predicted >= 0) ++classes_.at(static_cast<std::size_t>(predicted)).predicted;
  if (label != predicted) return;
  ++classes_[static_cast<std::size_t>(label)].true_positives;
  ++correct_;
}

double ClassScores::accuracy() const { return Share(correct_, count_); }

double ClassScores::macro_f1() const {
  double sum = 0;
  std::int64_t seen = 0;
  for (const ClassCounts& one : classes_) {
    if (one.labeled + one.predicted == 0) continue;
    sum += one.f1();
    ++seen;
  }
  return seen == 0 ? 0 : sum / static_cast<double>(seen);
}

}  // namespace headlight
