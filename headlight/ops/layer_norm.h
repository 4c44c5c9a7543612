// Layer normalization along the last axis, with or without a fused residual connection.
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/dropout_hash.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns (x - mean) / sqrt(variance + epsilon) * gain + bias (Ba, Kiros and Hinton, "Layer Normalization", 2016). x
/// is [..., model], and gain and bias are [model]. Returns the shape of x. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor LayerNorm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon = 1e-5);

/// Returns LayerNorm(x + dropout(sublayer)), fused (Vaswani et al., 2017, section 5.4).
HEADLIGHT_API Tensor ResidualLayerNorm(const Tensor& x, const Tensor& sublayer, Dropout dropout, const Tensor& gain,
                                       const Tensor& bias, double epsilon = 1e-5);

}  // namespace headlight::ops
