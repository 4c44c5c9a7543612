// The L1 loss.
#pragma once

#include <span>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns the L1 loss, of shape [1]: scale times the sum of |x - target| over all elements in row-major order. The
/// gradient of a zero difference is 0. Throws Error unless there is one target per element.
HEADLIGHT_API Tensor AbsoluteError(const Tensor& x, std::span<const double> target, double scale);

}  // namespace headlight::ops
