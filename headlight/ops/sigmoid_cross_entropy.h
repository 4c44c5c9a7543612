// Cross-entropy of yes and no for every number, as of pairs that belong together or do not.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// [1]: scale times the sum over all elements of -t log(sigmoid(x)) - (1 - t) log(1 - sigmoid(x)), x of logits and t of
// targets, which are of the same shape, from 0 to 1, and have no gradient. Throws Error where shapes do not fit.
HEADLIGHT_API Tensor SigmoidCrossEntropy(const Tensor& logits, const Tensor& targets, double scale);

}  // namespace headlight::ops
