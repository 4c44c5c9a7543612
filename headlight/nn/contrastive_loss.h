// Contrastive losses: a vector should be nearer to its own pair's than to all others of the batch.
#pragma once

#include "headlight/base/export.h"
#include "headlight/nn/dual_encoder.h"

namespace headlight {

// [1]: `scale` times the sum over pairs of the mean of two cross-entropies: which of all b belongs to a_i, and the
// reverse. logits [pairs, pairs] of a to b, and of b to a, which are the same transposed (Radford et al., 2021, figure
// 3). There may be more columns, of what belongs to none: negatives.
HEADLIGHT_API Tensor SoftmaxPairLoss(const Tensor& a_to_b, const Tensor& b_to_a, double scale);

// [1]: `scale` times the sum over all elements of logits [pairs, pairs] of -log(sigmoid(z logit)), z 1 for a pair and
// -1 for others (Zhai et al., 2023, eq. 1). There may be more rows, of what belongs to none.
HEADLIGHT_API Tensor SigmoidPairLoss(const Tensor& logits, double scale);

// The one of them that the model's scores ask for, of pictures' and texts' vectors of length 1, [pairs, vector]. There
// may be more texts, which belong to no picture.
HEADLIGHT_API Tensor ContrastiveLoss(Context& context, const DualEncoder& model, const Tensor& pictures,
                                     const Tensor& texts, double scale);

}  // namespace headlight
