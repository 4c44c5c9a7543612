// Soft caps, for example of logits.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns cap tanh(x / cap), elementwise (Gemma Team, "Gemma 2", 2024, section 2.2). Returns x itself if cap is 0.
/// Throws Error if cap is neither 0 nor a positive number.
HEADLIGHT_API Tensor SoftCap(const Tensor& x, double cap);

}  // namespace headlight::ops
