// Elementwise binary cross-entropy, for example to predict whether two items belong together.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns scale times the sum over all elements of -t log(sigmoid(x)) - (1 - t) log(1 - sigmoid(x)), of shape [1]. The
/// targets t are in [0, 1], have the shape of the logits x, and have no gradient. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor SigmoidCrossEntropy(const Tensor& logits, const Tensor& targets, double scale);

}  // namespace headlight::ops
