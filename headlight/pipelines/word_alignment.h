// Word alignments of a translation and its source, from the cross-attention.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// Indices of words, which are separated by white space and counted from 0.
struct WordPair {
  std::int32_t source = 0, target = 0;
  auto operator<=>(const WordPair&) const = default;
};
using WordAlignment = std::vector<WordPair>;  ///< sorted and distinct

/// The index of each token's word, or -1 for tokens without a word, such as the end token.
struct TokenWords {
  std::vector<std::int32_t> source, target;
};

/// Aligns each target token to the source token with the largest weight in the step that predicts the target token. The
/// weights are averaged over the heads of the last cross-attention layer. Words are aligned if their tokens are
/// aligned. `attention` (Hypothesis::attention) has these weights for each target token, one per source token.
///
/// For models of six layers, Garg et al. ("Jointly Learning to Align and Translate with Transformer Models", 2019,
/// section 4.2) prefer the second-to-last layer. For the demo's two layers the last layer is better.
HEADLIGHT_API WordAlignment AlignWords(std::span<const std::shared_ptr<const std::vector<float>>> attention,
                                       const TokenWords& words);

/// Returns the number of words in `text`.
HEADLIGHT_API std::int32_t CountWords(std::string_view text);

}  // namespace headlight
