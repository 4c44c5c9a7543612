// Products of tokens with relative position vectors, for attention scores.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Computes, for each head, the products of all tokens with all relative vectors. Maps x [tokens, heads * head_dim] and
/// relative [vectors, heads * head_dim] to [tokens, parts * heads * vectors]. Entry r of head h is x_h . relative_h[r].
/// The parts are (query, relative_key) and (key, relative_query). Empty parts are omitted.
HEADLIGHT_API Tensor RelativeScores(const Tensor& query, const Tensor& relative_key, const Tensor& key,
                                    const Tensor& relative_query, std::int32_t heads);

}  // namespace headlight::ops
