// x + dropout(sublayer): the residual connection of a pre-norm layer.
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/dropout_hash.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns x + dropout(sublayer). x, sublayer and the result have the same shape. Throws Error if shapes differ.
HEADLIGHT_API Tensor Residual(const Tensor& x, const Tensor& sublayer, Dropout dropout = {});

}  // namespace headlight::ops
