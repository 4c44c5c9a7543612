// Metrics of a classifier, computed from its logits: accuracy, top-5 accuracy, loss and confusion matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/text/metrics/class_scores.h"

namespace headlight {

class HEADLIGHT_API LogitScores {
 public:
  /// The largest number of classes for which a confusion matrix is computed. The size of the matrix is quadratic.
  static constexpr std::size_t kMostConfused = 1024;

  explicit LogitScores(std::size_t classes);

  /// Adds an example's true class and its logits, one per class. The prediction is the first class with the
  /// largest logit.
  void Add(std::int32_t label, std::span<const float> logits);

  const ClassScores& classes() const { return classes_; }
  double loss() const;           ///< the mean negative log-probability of the true class
  double top5_accuracy() const;  ///< 0 to 1; if logits are equal, the first ranks higher
  /// The number of examples by [true class, predicted class]. Empty for more than kMostConfused classes.
  const std::vector<std::int64_t>& confusions() const { return confusions_; }

 private:
  ClassScores classes_;
  double loss_ = 0;
  std::int64_t in_top5_ = 0;
  std::vector<std::int64_t> confusions_;
};

}  // namespace headlight
