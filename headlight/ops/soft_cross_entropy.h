// Cross-entropy against a distribution over the classes, as mixup and teachers give one.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// [1]: scale times the sum over all rows of -sum over classes of targets * log(softmax(logits)). Both are [rows,
// classes]; targets need not sum to 1 and have no gradient. Throws Error where shapes do not fit.
HEADLIGHT_API Tensor SoftCrossEntropy(const Tensor& logits, const Tensor& targets, double scale);

}  // namespace headlight::ops
