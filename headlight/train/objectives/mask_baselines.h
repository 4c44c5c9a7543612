// What the counts of tokens tell of masked ones: baselines that a model of masked words or residues must beat.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_examples.h"
#include "headlight/train/objectives/masked_language_model.h"

namespace headlight {

// Bits, the mean of -log2 p, of the tokens that the mask hides in a validation of `valid` (ValidateMaskedWords).
struct MaskBaselines {
  double by_frequency = 0;   // by how often a token stands in `train`
  double by_neighbours = 0;  // by what stands there between the same two neighbours, a trigram
};

// Counts are smoothed as Witten and Bell do ("The zero-frequency problem", 1991): after neighbours seen n times with t
// different tokens, t / (n + t) of the probability is that by one neighbour, the mean of left and right, each smoothed
// likewise by the frequencies, to which every token of the vocabulary adds one. A neighbour that is hidden too is the
// mask, which `train` does not have.
HEADLIGHT_API MaskBaselines ScoreMaskBaselines(const std::vector<TextExample>& train,
                                               const std::vector<TextExample>& valid, const MaskingOptions& masking,
                                               std::int64_t vocabulary);

}  // namespace headlight
