// Dropout (Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", 2014).
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/dropout_hash.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// x with elements dropped to 0 by chance and the others scaled by 1 / (1 - probability); x itself where the probability
// is 0. The mask is a function of (seed, row, column). Throws Error unless the probability lies in [0, 1).
HEADLIGHT_API Tensor Drop(const Tensor& x, Dropout dropout);

}  // namespace headlight::ops
