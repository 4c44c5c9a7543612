// Products of tokens with relative position vectors, for attention scores.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// For each head, the products of all tokens with all relative vectors: x [tokens, heads * head_dim] and relative
/// [vectors, heads * head_dim] to [tokens, parts * heads * vectors]. Entry r of head h is x_h . relative_h[r]. The
/// parts are (query, relative_key) and (key, relative_query), without empty ones.
HEADLIGHT_API Tensor RelativeScores(const Tensor& query, const Tensor& relative_key, const Tensor& key,
                                    const Tensor& relative_query, std::int32_t heads);

}  // namespace headlight::ops
