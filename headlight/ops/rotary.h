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
  /// If positive, the number of features per head. Only the first 2 * pairs features are rotated (partial rotary
  /// embedding).
  std::int64_t head_dim = 0;
  kernels::RotaryPairs pairs = kernels::RotaryPairs::halves;
};

/// Rotates the two features of pair i by angle i of the token, in each head of x [tokens, heads * head_dim]. x may be
/// columns of a wider tensor. Returns the shape of x. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor Rotary(const Tensor& x, const RotaryAngles& angles);

}  // namespace headlight::ops
