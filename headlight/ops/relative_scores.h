// Products of tokens with the vectors of relative positions, for attention's scores.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// For each head the products of every token with every relative vector: x [tokens, heads * head_dim] and relative
// [vectors, heads * head_dim] to [tokens, parts * heads * vectors], where number r of head h and of a part is
// x_h . relative_h[r]. The parts are (query, relative_key) and (key, relative_query), or the one of them that is not
// empty.
HEADLIGHT_API Tensor RelativeScores(const Tensor& query, const Tensor& relative_key, const Tensor& key,
                                    const Tensor& relative_query, std::int32_t heads);

}  // namespace headlight::ops
