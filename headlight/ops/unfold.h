// Each token beside its neighbours, for a convolution along a text.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// x [tokens, model] to [tokens, model * width]: number m * width + t of a token is number m of the token t - width / 2
// behind it in its text, or 0 where the text has none there. width is odd. So a Linear whose weight is a convolution's
// [outputs, model, width] is that convolution.
HEADLIGHT_API Tensor Unfold(const Tensor& x, const Sequences& texts, std::int64_t width);

}  // namespace headlight::ops
