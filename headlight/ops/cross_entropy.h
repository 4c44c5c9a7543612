// Cross-entropy with one class per row. For a vocabulary, ProjectionCrossEntropy needs less memory.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns scale times the sum of the cross-entropies of logits [rows, classes] with labels[r], of shape [1]. Rows with
/// a negative label are ignored. If class_weights [classes] is given, each row is multiplied by the weight of its
/// label. Throws Error if shapes do not fit or a label is out of range.
HEADLIGHT_API Tensor CrossEntropy(const Tensor& logits, std::span<const std::int32_t> labels, double scale,
                                  std::span<const double> class_weights = {});

}  // namespace headlight::ops
