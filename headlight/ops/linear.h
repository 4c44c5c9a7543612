// y = activation(x W^T + b).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/kernels/activation.h"
#include "headlight/ops/weight.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// Rows `ids` of the weight's values, [ids, inputs], dequantized where there is only a packed form. Throws Error for an
// id outside of it.
HEADLIGHT_API Tensor Rows(const Weight& weight, std::span<const std::int32_t> ids);

// x [..., inputs], bias of as many numbers as there are outputs or empty; y [..., outputs]. Throws Error where shapes
// do not fit.
HEADLIGHT_API Tensor Linear(const Tensor& x, const Weight& weight, const Tensor& bias = {},
                            Activation activation = Activation::none);

}  // namespace headlight::ops
