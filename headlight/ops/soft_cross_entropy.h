// Cross-entropy with a target distribution over the classes, for example from mixup or a teacher.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns scale times the sum over rows of -sum over classes of targets * log(softmax(logits)), of shape [1]. targets
/// and logits are [rows, classes]. targets need not sum to 1 and have no gradient. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor SoftCrossEntropy(const Tensor& logits, const Tensor& targets, double scale);

}  // namespace headlight::ops
