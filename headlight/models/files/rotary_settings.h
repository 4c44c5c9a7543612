// Rotary positions in the configurations of language models.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/io/config_table.h"
#include "headlight/nn/rotary.h"

namespace headlight {

/// How a model reads texts that are longer than those that it was first trained on. linear: positions are divided by a
/// factor (Chen et al., "Extending Context Window of Large Language Models via Positional Interpolation", 2023).
/// llama3: only those of slow pairs are, and less those of pairs in between.
enum class RotaryKind { unscaled, linear, llama3 };

struct RotarySettings {
  double base = 10000;
  RotaryKind kind = RotaryKind::unscaled;
  double factor = 1;
  // llama3: how often a pair turns within the first positions; less often than `slow` is slow, more than `fast` fast.
  double slow = 1, fast = 4;
  std::int64_t first_positions = 8192;

  RotaryPositions Of(std::int64_t head_dim) const;
  bool operator==(const RotarySettings&) const = default;
};

/// Both spellings: rope_parameters, and from before Transformers 5 rope_theta with rope_scaling.
void DescribeRotary(ConfigTable& table, RotarySettings& settings);

}  // namespace headlight
