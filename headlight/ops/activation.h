// Elementwise activations.
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/activation.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns activation(x), elementwise.
HEADLIGHT_API Tensor Activate(Activation activation, const Tensor& x);

}  // namespace headlight::ops
