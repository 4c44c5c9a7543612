// The divergence from the uniform distribution.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns scale times the sum over the rows of logits [rows, classes] of KL(softmax(row), uniform) = ln(classes) -
/// entropy(softmax(row)), of shape [1].
HEADLIGHT_API Tensor UniformDivergence(const Tensor& logits, double scale);

}  // namespace headlight::ops
