// Rotary position embedding (Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/ops/rotary.h"

namespace headlight {

/// The rotation frequencies of a head's feature pairs. A token's angles depend only on its position. Therefore a cache
/// can store rotated keys, and a text's result does not depend on its division into passes.
struct HEADLIGHT_API RotaryPositions {
  std::int64_t head_dim = 0;             ///< the first 2 * frequencies.size() features are rotated
  std::vector<double> frequencies = {};  ///< [pairs], in radians per position
  double factor = 1;                     ///< multiplies all cosines and sines
  kernels::RotaryPairs pairs = kernels::RotaryPairs::halves;

  /// Returns frequencies[i] = base^(-2 i / rotated) for i < rotated / 2 (Su et al., section 3.3). `rotated` is the
  /// number of rotated features of a head, or 0 for all features. Throws Error if it is odd.
  static RotaryPositions Default(std::int64_t head_dim, double base, std::int64_t rotated = 0);

  /// Returns the angles of a pass's tokens. The position of a text's first token is the text's entry in
  /// `first_positions`, or 0 if `first_positions` is empty.
  ops::RotaryAngles Angles(const Sequences& texts, std::span<const std::int32_t> first_positions, DType dtype) const;
};

}  // namespace headlight
