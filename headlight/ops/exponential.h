// The exponential function, element by element.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// e^x of every element; the shape of x.
HEADLIGHT_API Tensor Exponential(const Tensor& x);

}  // namespace headlight::ops
