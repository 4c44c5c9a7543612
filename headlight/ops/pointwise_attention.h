// Attention from each row to the same row of several tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns the sum over t of softmax_t(q . k_t / sqrt(head_dim)) v_t for each row and head (Jumper et al., "Highly
/// accurate protein structure prediction with AlphaFold", 2021, supplement, algorithm 17, lines 3 and 4). query and the
/// result are [rows, heads * head_dim]. Each of `keys_values` is [rows, 2 * heads * head_dim]: keys, then values.
/// Throws Error if `keys_values` is empty or shapes do not fit.
HEADLIGHT_API Tensor PointwiseAttention(const Tensor& query, const std::vector<Tensor>& keys_values,
                                        std::int32_t heads);

}  // namespace headlight::ops
