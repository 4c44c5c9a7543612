// The order of heads in a fused projection of queries, keys and values.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// x [tokens, key_heads * (group + 2) * head_dim], which holds for each key head its `group` query heads, its key and
/// its value (GPT-NeoX, BLOOM, Falcon), as all queries, then all keys, then all values, [tokens, the same]. Throws
/// Error if the columns are not so many.
HEADLIGHT_API Tensor UngroupHeads(const Tensor& x, std::int64_t key_heads, std::int64_t group, std::int64_t head_dim);

}  // namespace headlight::ops
