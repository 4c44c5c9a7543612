// The interface of models of two towers, one for images and one for texts, whose vectors lie in one space: an image
// is near the texts that describe it (Radford et al., "Learning Transferable Visual Models From Natural Language
// Supervision", 2021). For embedding, classes without examples, search, contrastive training and inspection.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/context.h"
#include "headlight/nn/layers.h"

namespace headlight {

class HEADLIGHT_API DualEncoder : public Model {
 public:
  static constexpr std::string_view kKind = "encoder of images and texts";

  // The states of images [height, width, channels], which may differ in size, as Transformers' last_hidden_state.
  // Throws Error for other channels.
  virtual EncodedImages EncodeImages(Context& context, std::span<const Tensor> images) const = 0;
  // One state of each image, [images, model of the images' tower].
  virtual Tensor PoolImages(Context& context, const EncodedImages& encoded) const = 0;

  // ids [tokens] of the texts, packed, each with the special tokens that the model expects, and where limits().filled
  // is set of that length; [tokens, model of the texts' tower]. Throws Error for an id outside the vocabulary and for a
  // text that is longer than the model's positions.
  virtual Tensor EncodeTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const = 0;
  // One state of each text: [texts, model of the texts' tower]. Throws Error for an empty text.
  virtual Tensor PoolTexts(Context& context, const Tensor& hidden, std::span<const std::int32_t> ids,
                           const Sequences& texts) const = 0;

  // A pooled state's place in the common space, before its length becomes 1: [rows, limits().vector].
  Tensor ProjectImages(Context& context, const Tensor& pooled) const;
  Tensor ProjectTexts(Context& context, const Tensor& pooled) const;

  // From images and texts to vectors of length 1: [images, vector] and [texts, vector].
  Tensor ImageVectors(Context& context, std::span<const Tensor> images) const;
  Tensor TextVectors(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const;

  // e^logit_scale a b^T, and logit_bias where the model has one, of vectors of length 1: [rows of a, rows of b]. Throws
  // Error for a model of one tower.
  Tensor Logits(Context& context, const Tensor& a, const Tensor& b) const;

  // How logits are read, and what a training compares. softmax: which of several texts belongs to an image, and the
  // reverse (CLIP). sigmoid: whether one belongs to the other, each pair by itself (Zhai et al., "Sigmoid Loss for
  // Language Image Pre-Training", 2023).
  enum class Scores { softmax, sigmoid };

  // A tower that the model does not have has zeros, and the functions of it throw Error.
  struct Limits {
    ImageEncoder::Limits images = {.image = {}, .patch = {}, .channels = 0, .special = 0};
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;   // the longest text, in tokens
    std::int32_t filled = 0;      // every text is filled up to so many tokens, which count as its own; 0: none is
    std::int64_t text_model = 0;  // numbers of a token's state
    std::int64_t vector = 0;      // numbers of a vector
    bool causal = false;          // a token sees itself and those before it
    Scores scores = Scores::softmax;

    bool has_images() const { return images.model > 0; }
    bool has_texts() const { return text_model > 0; }
  };
  const Limits& limits() const { return limits_; }
  // Throw Error where the model does not have that tower.
  void CheckImages() const;
  void CheckTexts() const;

  // The logarithm of what vectors' products are multiplied by; null in a model of one tower.
  const Parameter* logit_scale() const { return logit_scale_; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

 protected:
  using Model::Model;

  Limits limits_;
  std::optional<Linear> image_projection_, text_projection_;  // none: the pooled state is the vector
  const Parameter *logit_scale_ = nullptr, *logit_bias_ = nullptr;
};

}  // namespace headlight
