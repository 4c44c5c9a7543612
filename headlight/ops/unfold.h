// Gathers the window of neighbors of each token, for 1D convolutions.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Maps x [tokens, model] to [tokens, model * width]. Element m * width + t of a token is element m of the token at
/// offset t - width / 2 in its text, or 0 outside the text. width must be odd. A Linear layer with a convolution's
/// weight [outputs, model, width] then computes that convolution.
HEADLIGHT_API Tensor Unfold(const Tensor& x, const Sequences& texts, std::int64_t width);

}  // namespace headlight::ops
