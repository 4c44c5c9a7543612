// Rotary positions (Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, eq. 34).
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// The angles by which the pairs of a head's features are turned at each place.
struct RotaryAngles {
  Tensor cosines = {}, sines = {};        // [places, head_dim / 2]
  std::vector<std::int32_t> places = {};  // [tokens]
  /// Where positive, a head's features, of which only the first 2 * pairs are turned (partial rotary positions).
  std::int64_t head_dim = 0;
};

// x [tokens, heads * head_dim], possibly columns of a wider tensor, to the same: in each head features i and
// i + head_dim / 2 are a pair, turned by angle i of the token's place. Throws Error where shapes do not fit.
HEADLIGHT_API Tensor Rotary(const Tensor& x, const RotaryAngles& angles);

}  // namespace headlight::ops
