// The window of neighbours of each token, for a convolution along a text.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// x [tokens, model] to [tokens, model * width]: element m * width + t of a token is element m of the token at
// offset t - width / 2 in its text, or 0 outside of it. width is odd. A Linear with a convolution's weight [outputs,
// model, width] is then that convolution.
HEADLIGHT_API Tensor Unfold(const Tensor& x, const Sequences& texts, std::int64_t width);

}  // namespace headlight::ops
