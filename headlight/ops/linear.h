// The linear layer y = activation(x W^T + b).
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/kernels/activation.h"
#include "headlight/ops/weight.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns rows `ids` of the weight's values, [ids, inputs]. They are dequantized if there is only a packed form.
/// Throws Error if an id is out of range.
HEADLIGHT_API Tensor Rows(const Weight& weight, std::span<const std::int32_t> ids);

/// Maps x [..., inputs] to y [..., outputs]. The bias has [outputs] elements or is empty. Throws Error if shapes do not
/// fit.
HEADLIGHT_API Tensor Linear(const Tensor& x, const Weight& weight, const Tensor& bias = {},
                            Activation activation = Activation::none);

}  // namespace headlight::ops
