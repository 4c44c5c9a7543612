// Attention with linear biases, ALiBi (Press, Smith and Lewis, "Train Short, Test Long: Attention with Linear Biases
// Enables Input Length Extrapolation", 2022): no positions in the states, but scores that fall with the distance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/ops/attention.h"

namespace headlight {

/// The slope m of each head: 2^(-8 h / heads) of head h = 1, 2, ... (section 3). If heads are not a power of 2, the
/// first have the slopes of the next smaller one, and the others every second slope of twice that (the authors' code).
HEADLIGHT_API std::vector<float> LinearBiasSlopes(std::int32_t heads);

struct LinearBiasConfig {
  std::int32_t heads = 1;
  double factor = 1;     // of all biases
  bool rounded = false;  // slopes, positions and their products are rounded to bfloat16 (Falcon)
};

/// The biases of scores in a pass: factor * m * j for the key at position j of its text. The paper's -m (i - j) of
/// query i differs by a number that all keys of a query share, which the softmax leaves out. A text's first token is at
/// its entry of `first_positions`, or at 0 if that is empty.
HEADLIGHT_API ops::AttentionBias LinearBiases(const LinearBiasConfig& config, const Sequences& texts,
                                              std::span<const std::int32_t> first_positions, DType dtype);

}  // namespace headlight
