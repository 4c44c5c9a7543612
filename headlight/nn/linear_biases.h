// Attention with linear biases, ALiBi (Press, Smith and Lewis, "Train Short, Test Long: Attention with Linear Biases
// Enables Input Length Extrapolation", 2022). Hidden states contain no positions, but scores decrease with the
// distance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/ops/attention.h"

namespace headlight {

/// Returns the slope m of each head: 2^(-8 h / heads) for head h = 1, 2, ... (Press et al., section 3). If the number
/// of heads is not a power of 2, let n be the next smaller power of 2. The first n heads have the slopes of n heads,
/// and the other heads have every second slope of 2 n heads (as in the authors' code).
HEADLIGHT_API std::vector<float> LinearBiasSlopes(std::int32_t heads);

struct LinearBiasConfig {
  std::int32_t heads = 1;
  double factor = 1;     ///< factor of all biases
  bool rounded = false;  ///< if true, slopes, positions and their products are rounded to bfloat16 (Falcon)
};

/// Returns the biases of scores in a pass: factor * m * j for the key at position j of its text. The paper's bias of
/// query i is -m (i - j). The difference is equal for all keys of a query and does not change the softmax. The position
/// of a text's first token is the text's entry in `first_positions`, or 0 if `first_positions` is empty.
HEADLIGHT_API ops::AttentionBias LinearBiases(const LinearBiasConfig& config, const Sequences& texts,
                                              std::span<const std::int32_t> first_positions, DType dtype);

}  // namespace headlight
