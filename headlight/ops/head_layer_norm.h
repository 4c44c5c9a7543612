// Layer normalization of each head's queries and keys (Dehghani et al., "Scaling Vision Transformers to 22 Billion
// Parameters", 2023, section 2).
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Normalizes each head of x [tokens, heads * head_dim] separately: (head - mean) / sqrt(variance + epsilon) * gain,
/// with the head's part of gains [heads * head_dim]. x may be columns of a wider tensor. Returns the shape of x. Throws
/// Error if shapes do not fit.
HEADLIGHT_API Tensor HeadLayerNorm(const Tensor& x, const Tensor& gains, std::int64_t head_dim, double epsilon);

}  // namespace headlight::ops
