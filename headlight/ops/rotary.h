// Rotary position embedding (Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, eq. 34).
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kernels/rotary.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// The rotation angles of a head's feature pairs.
struct RotaryAngles {
  Tensor cosines = {}, sines = {};         ///< [distinct positions, head_dim / 2]
  std::vector<std::int32_t> indices = {};  ///< [tokens]: rows of cosines and sines
  /// If positive, the features of a head, of which only the first 2 * pairs are rotated (partial rotary embedding).
  std::int64_t head_dim = 0;
  kernels::RotaryPairs pairs = kernels::RotaryPairs::halves;
};

/// x [tokens, heads * head_dim], possibly columns of a wider tensor, to the same shape. In each head, the two features
/// of pair i are rotated by angle i of the token. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor Rotary(const Tensor& x, const RotaryAngles& angles);

}  // namespace headlight::ops
