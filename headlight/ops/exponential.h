// The elementwise exponential function.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns e^x, elementwise.
HEADLIGHT_API Tensor Exponential(const Tensor& x);

}  // namespace headlight::ops
