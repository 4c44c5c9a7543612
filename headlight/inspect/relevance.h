// Which parts of an image a score is due to.
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

// How much each token of an image [height, width, channels], special ones and patches, adds to its score with a text,
// by gradient times attention: of each layer, A = mean over heads of max(0, gradient of the score * weights), and
// R(l) = R(l-1) + A(l) R(l-1), of which the row is taken that the image's vector is made of (Chefer, Gur and Wolf,
// "Generic Attention-model Explainability for Interpreting Bi-Modal and Encoder-Decoder Transformers", 2021, equations
// 5 and 6). Element l has a number for each token, for the layers from l, of which element 0 is the paper's, to the
// last; without the identity that R begins with, as shares of 1, or zeros where no token adds to the score. The model
// is loaded with all its values (LoadFor::everything), and not in training, where its gradients would change. Throws
// Error for a model of one tower, and where the score is not finite.
HEADLIGHT_API std::vector<std::vector<float>> TokenRelevance(const DualEncoder& model, const Tensor& image,
                                                             std::span<const std::int32_t> text);

// The same for a page or a drawing: the image's tokens as the sources and the text, named by its label, as the only
// target, with a map for each first layer. Throws Error, too, where the image has more tokens than a page can show.
HEADLIGHT_API AttentionRecord RelevanceOf(const DualEncoder& model, const ImageProcessor& processor, const Image& image,
                                          std::span<const std::int32_t> text, const std::string& label);

}  // namespace headlight
