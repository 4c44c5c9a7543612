// Elementwise sums and products.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Return a + b and a * b with NumPy's broadcasting. Shapes are aligned at their last axes, and axes that are missing
/// or 1 are repeated. The gradient is summed over repeated axes. Throw Error if shapes cannot be broadcast or dtypes
/// differ.
HEADLIGHT_API Tensor Add(const Tensor& a, const Tensor& b);
HEADLIGHT_API Tensor Multiply(const Tensor& a, const Tensor& b);

/// Returns factor * x.
HEADLIGHT_API Tensor Scale(const Tensor& x, double factor);

/// Returns the sum of all elements, of shape [1].
HEADLIGHT_API Tensor Sum(const Tensor& x);

}  // namespace headlight::ops
