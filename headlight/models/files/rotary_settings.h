// Rotary positions in the configurations of language models.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/config_table.h"
#include "headlight/nn/rotary.h"

namespace headlight {

/// Extensions of the context length of pre-training:
/// - linear: positions are divided by a factor (Chen et al., "Extending Context Window of Large Language Models via
///   Positional Interpolation", 2023).
/// - dynamic: differs from unscaled only for texts longer than the context length, which are errors here.
/// - llama3: only the positions of low-frequency pairs are divided, with a transition to high frequencies.
/// - yarn: like llama3 with another transition, and with scaled scores (Peng et al., "YaRN: Efficient Context Window
///   Extension of Large Language Models", 2024).
/// - longrope: each pair has its own factor (Ding et al., "LongRoPE: Extending LLM Context Window Beyond 2 Million
///   Tokens", 2024).
enum class RotaryKind { unscaled, linear, dynamic, llama3, yarn, longrope };

inline constexpr double kLargestRotaryBase = 1e12;

struct RotarySettings {
  double base = 10000;
  RotaryKind kind = RotaryKind::unscaled;
  double rotated = 1;  ///< the fraction of a head's features that are rotated, starting at the first feature
  double factor = 1;
  /// llama3 and yarn: limits on the number of rotations of a pair within first_positions. Pairs with fewer than `slow`
  /// rotations have a low frequency, and pairs with more than `fast` rotations have a high frequency.
  double slow = 1, fast = 4;
  bool whole_pairs = true;           ///< yarn: if true, the ramp is rounded to whole pairs
  double attention_factor = 1;       ///< yarn and longrope: factor that multiplies cosines and sines
  std::int64_t first_positions = 0;  ///< llama3, yarn and longrope: context length of pre-training
  bool yarn_is_longrope = false;     ///< true for Phi-3, whose files use the name yarn for longrope
  std::vector<double> short_factors = {},
                      long_factors = {};  ///< longrope: factors of each pair for short texts and for long texts

  RotaryPositions Of(std::int64_t head_dim) const;
  /// Returns the maximum length of a text if the configuration has `positions`. For longrope, the limit is the range of
  /// the short factors, because a text's factors must not change as it grows.
  std::int64_t LongestText(std::int64_t positions) const;
  bool operator==(const RotarySettings&) const = default;
};

/// Describes the rotary settings. Reads the key rope_parameters, and the keys used before Transformers 5: rope_theta,
/// rope_scaling and partial_rotary_factor. `positions` is the configuration's max_position_embeddings.
/// partial_rotary_factor is only read if `partial` is true.
void DescribeRotary(ConfigTable& table, RotarySettings& settings, std::int64_t head_dim, std::int64_t positions,
                    bool partial = false);

/// Describes the settings of layers without and with a window (Gemma 3). The keys are rope_parameters, or rope_theta
/// with rope_scaling, and rope_local_base_freq.
void DescribeRotaryOfLayers(ConfigTable& table, RotarySettings& full, RotarySettings& sliding, std::int64_t head_dim,
                            std::int64_t positions);

}  // namespace headlight
