// x + dropout(sublayer): the residual connection of a pre-norm layer.
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/dropout_hash.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// Two tensors of one shape; the sum of that shape. Throws Error where they differ.
HEADLIGHT_API Tensor Residual(const Tensor& x, const Tensor& sublayer, Dropout dropout = {});

}  // namespace headlight::ops
