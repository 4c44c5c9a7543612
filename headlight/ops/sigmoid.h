// The logistic function, element by element.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// 1 / (1 + e^-x) of every element; the shape of x.
HEADLIGHT_API Tensor Sigmoid(const Tensor& x);

}  // namespace headlight::ops
