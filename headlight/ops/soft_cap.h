// Soft caps of numbers, such as logits.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// cap tanh(x / cap) of every element (Gemma Team, "Gemma 2", 2024, section 2.2); x itself where cap is 0. Throws Error
/// for another cap that is not a positive number.
HEADLIGHT_API Tensor SoftCap(const Tensor& x, double cap);

}  // namespace headlight::ops
