// Attribution of a score to the parts of an image.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/processor.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/image_encoder.h"

namespace headlight {

/// Returns the contribution of each token of an image, [height, width, channels], to the image's score with a text, by
/// gradient times attention (Chefer, Gur and Wolf, "Generic Attention-model Explainability for Interpreting Bi-Modal
/// and Encoder-Decoder Transformers", 2021, equations 5 and 6). For each layer, A = mean over heads of max(0, gradient
/// of the score * weights), and R(l) = R(l-1) + A(l) R(l-1), beginning with the identity.
///
/// The result is the row of R for the pooled state, minus the identity, normalized to a sum of 1. If no token
/// contributes, the result is zero. Element l has a value for each special token and patch, computed over the layers
/// from l to the last layer. Element 0 is the paper's result.
///
/// The model must be loaded with LoadFor::everything. It must not be trained at the same time, because this call
/// changes its gradients. Throws Error for a model with one tower, and if the score is not finite.
HEADLIGHT_API std::vector<std::vector<float>> TokenRelevance(const DualEncoder& model, const Tensor& image,
                                                             std::span<const std::int32_t> text);

/// Returns TokenRelevance as a record for a page or a drawing. Map l is the relevance over the layers from l to the
/// last one. The image's tokens are the sources, and the text's label is the only target. Throws the same errors as
/// TokenRelevance, and Error if the image has more tokens than a page can show.
HEADLIGHT_API AttentionRecord RelevanceOf(const DualEncoder& model, const ImageProcessor& processor, const Image& image,
                                          std::span<const std::int32_t> text, const std::string& label);

/// Computes Grad-CAM (Selvaraju et al., "Grad-CAM: Visual Explanations from Deep Networks via Gradient-based
/// Localization", 2017, equations 1 and 2) for a class of a convolutional network. With A_k the k-th feature map before
/// the class head and y the logit of the class, the result is ReLU(sum over k of mean(dy / dA_k) * A_k), [cells of the
/// map], row by row. `encoded` has one image. The model must be loaded with LoadFor::everything. Throws Error for a
/// model without classes, and if y is not finite.
HEADLIGHT_API std::vector<float> ClassActivation(const ImageEncoder& model, const EncodedImages& encoded,
                                                 std::int64_t label);

/// Returns Grad-CAM of the `top` most probable classes as a record. The cells are the sources, and the classes with
/// their probabilities are the targets. Each row is normalized to a sum of 1, or zero if no cell contributes to the
/// class.
HEADLIGHT_API AttentionRecord ClassActivationOf(const ImageEncoder& model, const ImageProcessor& processor,
                                                const Image& image, int top = 5);

}  // namespace headlight
