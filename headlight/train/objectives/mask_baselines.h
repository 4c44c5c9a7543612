// Count-based baselines that a masked language model must beat.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_examples.h"
#include "headlight/train/objectives/masked_language_model.h"

namespace headlight {

/// Mean -log2 p, in bits, of the tokens that a validation of `valid` masks (ValidateMaskedWords).
struct MaskBaselines {
  double by_frequency = 0;   // p is the token's frequency in `train`
  double by_neighbours = 0;  // p is the frequency between the same two neighbours, a trigram
};

/// Counts are smoothed by the method of Witten and Bell ("The zero-frequency problem", 1991). After a context seen n
/// times with t different tokens, the shorter context gets the probability t / (n + t). The shorter context of two
/// neighbours is the mean of the left and the right neighbour. Each of these backs off in the same way to the
/// frequencies, where every token of the vocabulary has one extra count. A neighbour that is masked too is the mask
/// token, which does not occur in `train`.
HEADLIGHT_API MaskBaselines ScoreMaskBaselines(const std::vector<TextExample>& train,
                                               const std::vector<TextExample>& valid, const MaskingOptions& masking,
                                               std::int64_t vocabulary);

}  // namespace headlight
