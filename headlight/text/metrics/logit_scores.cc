#include "headlight/text/metrics/logit_scores.h"

#include <algorithm>
#include <cmath>

namespace headlight {

LogitScores::LogitScores(std::size_t classes)
    : classes_(classes), confusions_(classes > kMostConfused ? 0 : classes * classes) {}

void LogitScores::Add(std::int32_t label, std::span<const float> logits) {
  const auto most = std::ranges::max_element(logits);
  const auto predicted = static_cast<std::int32_t>(most - logits.begin());
  classes_.Add(label, predicted);
  const auto at = static_cast<std::size_t>(label);
  if (!confusions_.empty()) ++confusions_[at * logits.size() + static_cast<std::size_t>(predicted)];
  const float of_right = logits[at];
  const auto before = std::ranges::count_if(logits, [&](float logit) { return logit > of_right; }) +
                      std::ranges::count(logits.first(at), of_right);
  if (before < 5) ++in_top5_;
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - static_cast<double>(*most));
  loss_ += std::log(sum) + static_cast<double>(*most) - static_cast<double>(of_right);
}

double LogitScores::loss() const { return classes_.count() == 0 ? 0 : loss_ / static_cast<double>(classes_.count()); }

double LogitScores::top5_accuracy() const {
  return classes_.count() == 0 ? 0 : static_cast<double>(in_top5_) / static_cast<double>(classes_.count());
}

}  // namespace headlight
