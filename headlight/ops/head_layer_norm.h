// LayerNorms of each head's queries and keys (Dehghani et al., "Scaling Vision Transformers to 22 Billion Parameters",
// 2023, section 2).
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// x [tokens, heads * head_dim], possibly columns of a wider tensor, to the same: each head is normed on its own, (head
/// - mean) / sqrt(variance + epsilon) * gain, with its part of gains [heads * head_dim]. Throws Error if they do not
/// fit.
HEADLIGHT_API Tensor HeadLayerNorm(const Tensor& x, const Tensor& gains, std::int64_t head_dim, double epsilon);

}  // namespace headlight::ops
