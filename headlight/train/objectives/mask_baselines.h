// Count-based baselines that a masked language model must beat.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_examples.h"
#include "headlight/train/objectives/masked_language_model.h"

namespace headlight {

/// The mean of -log2 p, in bits, over the tokens that are masked when validating on `valid` (ValidateMaskedWords).
struct MaskBaselines {
  double by_frequency = 0;  // p is the token's frequency in `train`
  double by_neighbors = 0;  // p is the token's frequency between the same two neighbors, a trigram
};

/// Computes the baselines. Counts are smoothed by the method of Witten and Bell ("The zero-frequency problem", 1991).
/// If a context occurs n times with t different tokens, the backoff context has the probability t / (n + t). The
/// backoff of two neighbors is the mean of two distributions: given only the left neighbor, and given only the right
/// neighbor. Both distributions back off in the same way to the token frequencies, in which every token of the
/// vocabulary has one extra count. A neighbor that is also masked counts as the mask token, which does not occur in
/// `train`.
HEADLIGHT_API MaskBaselines ScoreMaskBaselines(const std::vector<TextExample>& train,
                                               const std::vector<TextExample>& valid, const MaskingOptions& masking,
                                               std::int64_t vocabulary);

}  // namespace headlight
