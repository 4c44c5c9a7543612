// Rotary positions of a text's tokens (Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding",
// 2021).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/ops/rotary.h"

namespace headlight {

/// How fast each pair of a head's features turns. A token's angles depend on its position alone, so that a cache keeps
/// keys as they are turned, and a text's result does not depend on the passes that it is read in.
struct HEADLIGHT_API RotaryPositions {
  std::int64_t head_dim = 0;             // of which the first 2 * pairs features are turned
  std::vector<double> frequencies = {};  // [pairs], in radians per position
  double factor = 1;                     // of all cosines and sines

  /// frequencies[i] = base^(-2 i / turned), i < turned / 2 (section 3.3), of which `turned` features of a head turn:
  /// all unless given. Throws Error where that is odd.
  static RotaryPositions Default(std::int64_t head_dim, double base, std::int64_t turned = 0);

  /// The angles of a pass's tokens. A text's first token is at its entry of `first_positions`, or at 0 where that is
  /// empty.
  ops::RotaryAngles Angles(const Sequences& texts, std::span<const std::int32_t> first_positions, DType dtype) const;
};

}  // namespace headlight
