// Softmax along the last axis.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// exp(x[i]) / sum of exp(x) along the last axis, at any size of the numbers; the shape of x. -infinity gets no weight.
HEADLIGHT_API Tensor Softmax(const Tensor& x);

}  // namespace headlight::ops
