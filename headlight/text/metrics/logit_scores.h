// Metrics of a classifier from its logits: accuracy, top-5 accuracy, loss, confusion matrix.
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
  // Of more classes no confusions are counted: their number is squared.
  static constexpr std::size_t kMostConfused = 1024;

  explicit LogitScores(std::size_t classes);

  // The logits of an example, one for each class; the first of the largest is what was found.
  void Add(std::int32_t right, std::span<const float> logits);

  const ClassScores& classes() const { return classes_; }
  double loss() const;  // the mean negative log-probability of the right class
  double top5_accuracy()
      const;  // 0 to 1: how often the right one is among the five largest, the first of equals before others
  // [true class, predicted class]: how many examples.  Empty for more than kMostConfused classes.
  const std::vector<std::int64_t>& confusions() const { return confusions_; }

 private:
  ClassScores classes_;
  double loss_ = 0;
  std::int64_t in_top5_ = 0;
  std::vector<std::int64_t> confusions_;
};

}  // namespace headlight
