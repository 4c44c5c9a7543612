// The elementwise logistic function.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns 1 / (1 + e^-x), elementwise.
HEADLIGHT_API Tensor Sigmoid(const Tensor& x);

}  // namespace headlight::ops
