// How far distributions are from the uniform one.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// [1]: scale times the sum over the rows of logits [rows, classes] of KL(softmax(row), uniform) = the logarithm of the
// classes - the entropy of softmax(row).
HEADLIGHT_API Tensor UniformDivergence(const Tensor& logits, double scale);

}  // namespace headlight::ops
