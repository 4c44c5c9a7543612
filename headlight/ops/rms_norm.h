// Root mean square layer normalization along the last axis.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns x / sqrt(mean of x^2 + epsilon) * gain (Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019). x
/// is [..., model] and gain is [model]. Returns the shape of x. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor RmsNorm(const Tensor& x, const Tensor& gain, double epsilon = 1e-6);

/// Returns x / |x| for each row. A row of zeros is unchanged.
HEADLIGHT_API Tensor UnitRows(const Tensor& x);

}  // namespace headlight::ops
