// Attribution of a score to image patches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/processor.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/kinds/dual_encoder.h"

namespace headlight {

/// The contribution of each token of an image [height, width, channels] to its score with a text, by gradient times
/// attention (Chefer, Gur and Wolf, "Generic Attention-model Explainability for Interpreting Bi-Modal and
/// Encoder-Decoder Transformers", 2021, equations 5 and 6). For each layer, A = mean over heads of max(0, gradient of
/// the score * weights), and R(l) = R(l-1) + A(l) R(l-1), beginning with the identity.
///
/// The result is the row of R for the state from which the image's vector is computed, minus the identity, normalized
/// to a sum of 1. If no token contributes, it is zero. Element l has a number for each special token and patch,
/// computed over the layers from l to the last one; element 0 is the paper's result.
///
/// The model must be loaded with all its values (LoadFor::everything), and must not be in training, since its gradients
/// change. Throws Error for a model with one tower, and if the score is not finite.
HEADLIGHT_API std::vector<std::vector<float>> TokenRelevance(const DualEncoder& model, const Tensor& image,
                                                             std::span<const std::int32_t> text);

/// The same as a record for a page or a drawing, with a map for each first layer. The image's tokens are the sources,
/// and the text's label is the only target. Also throws Error if the image has more tokens than a page can show.
HEADLIGHT_API AttentionRecord RelevanceOf(const DualEncoder& model, const ImageProcessor& processor, const Image& image,
                                          std::span<const std::int32_t> text, const std::string& label);

}  // namespace headlight
