#include "headlight/train/best_validation.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// Returns true if a lower value of the metric is better.
bool LessIsBetter(std::string_view metric) {
  return metric == "loss" || metric == "perplexity" || metric == "bits_per_byte" || metric == "bits_per_pixel";
}

// Returns the score with this name from the report.
double ScoreNamed(const ValidationReport& report, const std::string& metric) {
  if (metric == "loss") return report.loss;
  if (metric == "perplexity") return report.perplexity;
  if (metric == report.score_name) return report.score;
  const auto found = std::ranges::find(report.more_scores, metric, &ValidationReport::Score::name);
  Ensure(found != report.more_scores.end(), "a validation does not report {}", metric);
  return found->value;
}

}  // namespace

bool KeepIfBest(const ValidationReport& report, const std::string& metric, bool last_is_best, TrainingState& state) {
  std::string by = metric;
  if (by.empty()) by = report.score_name.empty() ? "loss" : report.score_name;
  // The perplexity can be infinite, so the loss is compared instead.
  const double value = ScoreNamed(report, by == "perplexity" ? "loss" : by);
  const double score = LessIsBetter(by) ? -value : value;
  const bool best = last_is_best || state.best_step == 0 || score > state.best_score ||
                    (score == state.best_score && report.loss < state.best_loss);
  if (!best) {
    ++state.validations_since_best;
    return false;
  }
  state.best_metric = by;
  state.best_score = score;
  state.best_loss = report.loss;
  state.best_step = report.step;
  state.validations_since_best = 0;
  return true;
}

double BestValue(const TrainingState& state) {
  if (state.best_metric == "perplexity") return std::exp(state.best_loss);
  return LessIsBetter(state.best_metric) ? -state.best_score : state.best_score;
}

}  // namespace headlight
