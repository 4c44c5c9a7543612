// Softmax along the last axis.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns exp(x[i]) / sum of exp(x) along the last axis, without overflow. The result for -infinity is 0.
HEADLIGHT_API Tensor Softmax(const Tensor& x);

}  // namespace headlight::ops
