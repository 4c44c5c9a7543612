// Dropout (Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", 2014).
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/dropout_hash.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Sets random elements of x to 0 and multiplies the other elements by 1 / (1 - probability). Returns x itself if the
/// probability is 0. The mask is a function of (seed, row, column). Throws Error unless the probability is in [0, 1).
HEADLIGHT_API Tensor Drop(const Tensor& x, Dropout dropout);

}  // namespace headlight::ops
