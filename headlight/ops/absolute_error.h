// The L1 loss.
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// [1]: scale times the sum of |x - target| of all elements, row by row; the gradient of a difference of 0 is 0. Throws
// Error where there are not as many targets as elements.
HEADLIGHT_API Tensor AbsoluteError(const Tensor& x, std::span<const double> target, double scale);

}  // namespace headlight::ops
