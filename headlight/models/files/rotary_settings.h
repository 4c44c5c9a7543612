// Rotary positions in the configurations of language models.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/config_table.h"
#include "headlight/nn/rotary.h"

namespace headlight {

/// How a model reads texts that are longer than those that it was first trained on. linear: positions are divided by a
/// factor (Chen et al., "Extending Context Window of Large Language Models via Positional Interpolation", 2023).
/// dynamic: only longer texts would be scaled, which the model refuses. llama3: only the positions of slow pairs are
/// divided, and less those of pairs in between. yarn: the same with another ramp, and scores are scaled (Peng et al.,
/// "YaRN: Efficient Context Window Extension of Large Language Models", 2024). longrope: each pair has its own factor
/// (Ding et al., "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens", 2024).
enum class RotaryKind { unscaled, linear, dynamic, llama3, yarn, longrope };

inline constexpr double kLargestRotaryBase = 1e12;

struct RotarySettings {
  double base = 10000;
  RotaryKind kind = RotaryKind::unscaled;
  double rotated = 1;  // the share of a head's features that are rotated: the first ones
  double factor = 1;
  /// llama3 and yarn: how often a pair turns within the first positions; less often than `slow` is slow, more than
  /// `fast` fast.
  double slow = 1, fast = 4;
  bool whole_pairs = true;           // yarn: the ramp begins and ends at a pair
  double attention_factor = 1;       // yarn and longrope: of all cosines and sines
  std::int64_t first_positions = 0;  // llama3, yarn and longrope: of the texts that the model was first trained on
  bool yarn_is_longrope = false;     // in Phi-3's files, which named it before YaRN was in Transformers
  std::vector<double> short_factors = {}, long_factors = {};  // longrope: of each pair, up to those positions and above

  RotaryPositions Of(std::int64_t head_dim) const;
  /// The longest text, if `positions` is what the configuration says. longrope: that of the short factors. (A longer
  /// one would need other keys for its first tokens, once it has grown.)
  std::int64_t LongestText(std::int64_t positions) const;
  bool operator==(const RotarySettings&) const = default;
};

/// Both spellings: rope_parameters, and from before Transformers 5 rope_theta, rope_scaling and partial_rotary_factor.
/// `positions` is the configuration's max_position_embeddings. Only a family with `partial` has the last key.
void DescribeRotary(ConfigTable& table, RotarySettings& settings, std::int64_t head_dim, std::int64_t positions,
                    bool partial = false);

/// Those of layers with and without a window: members of rope_parameters, or rope_theta with rope_scaling, and
/// rope_local_base_freq (Gemma 3).
void DescribeRotaryOfLayers(ConfigTable& table, RotarySettings& full, RotarySettings& sliding, std::int64_t head_dim,
                            std::int64_t positions);

}  // namespace headlight
