// Contrastive losses: the two vectors of a pair should be more similar to each other than to all other vectors in the
// batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/dual_encoder.h"

namespace headlight {

/// Returns the index of the first equal text for each text (as token ids).
HEADLIGHT_API std::vector<std::int32_t> FirstOfEqual(std::span<const std::vector<std::int32_t>> texts);

/// Returns the loss of CLIP (Radford et al., 2021, figure 3), [1]. It is `scale` times the sum over pairs of the mean
/// of two cross-entropies: from a_i to b_i among all b, and from b_i to a_i among all a. `a_to_b` and `b_to_a` are
/// logits [pairs, pairs], and one is the transpose of the other. Either may have extra columns for negatives that
/// belong to no pair. `first` is the result of FirstOfEqual for the side that may have negatives. A text that equals
/// the text of a pair is not a negative for that pair.
HEADLIGHT_API Tensor SoftmaxPairLoss(const Tensor& a_to_b, const Tensor& b_to_a, std::span<const std::int32_t> first,
                                     double scale);

/// Returns the loss of SigLIP (Zhai et al., 2023, eq. 1), [1]: `scale` times the sum over all elements of logits
/// [pairs, pairs] of -log(sigmoid(z logit)), with z = 1 for a pair and -1 otherwise. There may be extra rows for
/// negatives that belong to no pair. `first` is the result of FirstOfEqual for the texts of all rows. Off-diagonal
/// elements with equal texts are ignored.
HEADLIGHT_API Tensor SigmoidPairLoss(const Tensor& logits, std::span<const std::int32_t> first, double scale);

/// Returns the softmax or the sigmoid loss, depending on the model. `images` and `texts` are unit vectors [pairs,
/// vector]. If there are more texts than images, the extra texts are negatives. `first` is the result of FirstOfEqual
/// for the texts.
HEADLIGHT_API Tensor ContrastiveLoss(Context& context, const DualEncoder& model, const Tensor& images,
                                     const Tensor& texts, std::span<const std::int32_t> first, double scale);

}  // namespace headlight
