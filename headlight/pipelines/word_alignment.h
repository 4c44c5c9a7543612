// Word alignments of a translation and its source, from the cross-attention.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

// Words are what white space separates, counted from 0.
struct WordPair {
  std::int32_t source = 0, target = 0;
  auto operator<=>(const WordPair&) const = default;
};
using WordAlignment = std::vector<WordPair>;  // in order, none twice

// The index of each token's word; -1 where it has none, such as the end of a sentence.
struct TokenWords {
  std::vector<std::int32_t> source, target;
};

// Each target token is aligned to the source token that has the greatest weight in the step that chooses it, on average
// over the heads of the last cross-attention layer, and so are their words. (For a model of six layers Garg et al.,
// "Jointly Learning to Align and Translate with Transformer Models", 2019, section 4.2, found the last but one better.
// For the demo's, of two, the last was plainly better than the first, and the step that chooses a token than the one
// that reads it.) `attention` (Hypothesis::attention) has those weights by target token, one for each source token.
HEADLIGHT_API WordAlignment AlignWords(std::span<const std::shared_ptr<const std::vector<float>>> attention,
                                       const TokenWords& words);

// The number of words of `text`.
HEADLIGHT_API std::int32_t CountWords(std::string_view text);

}  // namespace headlight
