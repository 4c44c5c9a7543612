// Divergence from the uniform distribution.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// [1]: scale times the sum over the rows of logits [rows, classes] of KL(softmax(row), uniform) = ln(classes) -
/// entropy(softmax(row)).
HEADLIGHT_API Tensor UniformDivergence(const Tensor& logits, double scale);

}  // namespace headlight::ops
