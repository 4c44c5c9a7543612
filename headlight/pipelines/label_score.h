// Labels with scores, the result of every classifier.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/problem.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// A class with its score.
struct LabelScore {
  std::string label;
  float score = 0;  ///< probability, 0 to 1; for Problem::number the model's output
  bool operator==(const LabelScore&) const = default;
};

/// Returns the labels of each row of `scores`, [rows, labels] in float32, the highest score first. Equal scores keep
/// the order of `labels`. Outputs of Problem::number (regression) stay in the order of `labels` unless `top_k` is set.
/// Returns `top_k` labels per row, or all if it is not set. Throws Error if `top_k` is below 1.
HEADLIGHT_API std::vector<std::vector<LabelScore>> LabelScores(const Tensor& scores,
                                                               std::span<const std::string> labels,
                                                               Problem problem = Problem::one_label,
                                                               std::optional<std::int64_t> top_k = {});

}  // namespace headlight
