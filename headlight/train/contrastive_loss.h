// Contrastive losses: a vector should be nearer to its own pair's than to all others of the batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/dual_encoder.h"

namespace headlight {

// Of texts as ids, a number that equal ones share: the place of the first.
HEADLIGHT_API std::vector<std::int32_t> FirstOfEqual(std::span<const std::vector<std::int32_t>> texts);

// [1]: `scale` times the sum over pairs of the mean of two cross-entropies: which of all b belongs to a_i, and the
// reverse. logits [pairs, pairs] of a to b, and of b to a, which are the same transposed (Radford et al., 2021, figure
// 3). Either may have more columns, of what belongs to none: negatives. `first` is FirstOfEqual of the side that may
// have them: one that equals a pair's own is no negative of it.
HEADLIGHT_API Tensor SoftmaxPairLoss(const Tensor& a_to_b, const Tensor& b_to_a, std::span<const std::int32_t> first,
                                     double scale);

// [1]: `scale` times the sum over all elements of logits [pairs, pairs] of -log(sigmoid(z logit)), z 1 for a pair and
// -1 for others (Zhai et al., 2023, eq. 1). There may be more rows, of what belongs to none. `first` is FirstOfEqual of
// all rows' texts: the images of other equal ones do not count.
HEADLIGHT_API Tensor SigmoidPairLoss(const Tensor& logits, std::span<const std::int32_t> first, double scale);

// The one of them that the model's scores ask for, of images' and texts' vectors of length 1, [pairs, vector]. There
// may be more texts, which belong to no image. `first` is FirstOfEqual of the texts.
HEADLIGHT_API Tensor ContrastiveLoss(Context& context, const DualEncoder& model, const Tensor& images,
                                     const Tensor& texts, std::span<const std::int32_t> first, double scale);

}  // namespace headlight
