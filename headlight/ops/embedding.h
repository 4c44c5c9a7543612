// Embedding lookup.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/kernels/dropout_hash.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns dropout(scale * table[ids] + position_table[positions]), of shape [tokens, model] (Vaswani et al., 2017,
/// sections 3.4, 3.5 and 5.4). ids and positions are [tokens], table is [vocab, model], and position_table is
/// [positions, model] or empty. Throws Error if an id or a position is out of range.
HEADLIGHT_API Tensor Embedding(const Tensor& table, std::span<const std::int32_t> ids, double scale = 1,
                               const Tensor& position_table = {}, std::span<const std::int32_t> positions = {},
                               Dropout dropout = {});

}  // namespace headlight::ops
