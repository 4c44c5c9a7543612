// Rotary positions in the configurations of language models.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/io/config_table.h"
#include "headlight/nn/rotary.h"

namespace headlight {

struct RotarySettings {
  double base = 10000;

  RotaryPositions Of(std::int64_t head_dim) const { return RotaryPositions::Default(head_dim, base); }
};

/// Both spellings: rope_parameters, and from before Transformers 5 rope_theta with rope_scaling beside it.
void DescribeRotary(ConfigTable& table, RotarySettings& settings);

}  // namespace headlight
