// The order of heads in a fused projection of queries, keys and values.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Reorders the columns of x [tokens, key_heads * (group + 2) * head_dim]. In x, the `group` query heads of each key
/// head are followed by its key and its value, as in GPT-NeoX, BLOOM and Falcon. In the result, all queries come first,
/// then all keys, then all values. Throws Error if x has a different number of columns.
HEADLIGHT_API Tensor UngroupHeads(const Tensor& x, std::int64_t key_heads, std::int64_t group, std::int64_t head_dim);

}  // namespace headlight::ops
