// Activations, element by element.
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/activation.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// The function that `activation` names, of every element; the shape of x.
HEADLIGHT_API Tensor Activate(Activation activation, const Tensor& x);

}  // namespace headlight::ops
