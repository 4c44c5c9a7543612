// The interface of dual encoders. An image tower and a text tower compute embeddings in a common space, in which an
// image is close to texts that describe it (Radford et al., "Learning Transferable Visual Models From Natural Language
// Supervision", 2021). Dual encoders are used for embedding, zero-shot classification, search, contrastive training and
// inspection.
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

  /// Encodes images [height, width, channels], which may differ in size. `hidden` is the last_hidden_state of
  /// Transformers. Throws Error for a different number of channels.
  virtual EncodedImages EncodeImages(Context& context, std::span<const Tensor> images) const = 0;
  /// Returns one state per image, [images, model of the image tower].
  virtual Tensor PoolImages(Context& context, const EncodedImages& encoded) const = 0;

  /// Encodes ids [tokens] of the texts, packed, to [tokens, model of the text tower]. Texts must include the special
  /// tokens. If limits().filled is not 0, it is the required length of every text. Throws Error for an id outside the
  /// vocabulary or a text that does not fit into the model's positions.
  virtual Tensor EncodeTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const = 0;
  /// Returns one state per text, [texts, model of the text tower]. Throws Error for an empty text.
  virtual Tensor PoolTexts(Context& context, const Tensor& hidden, std::span<const std::int32_t> ids,
                           const Sequences& texts) const = 0;

  /// Project pooled states to the common space, without normalization: [rows, limits().vector].
  Tensor ProjectImages(Context& context, const Tensor& pooled) const;
  Tensor ProjectTexts(Context& context, const Tensor& pooled) const;

  /// Return normalized embeddings of images and texts: [images, vector] and [texts, vector].
  Tensor ImageVectors(Context& context, std::span<const Tensor> images) const;
  Tensor TextVectors(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const;

  /// Returns e^logit_scale a b^T (plus logit_bias if the model has it) for normalized embeddings: [rows of a, rows of
  /// b]. Throws Error for a model with only one tower.
  Tensor Logits(Context& context, const Tensor& a, const Tensor& b) const;

  /// The meaning and the training loss of logits. softmax: classification of the text that matches an image, and of the
  /// image that matches a text (CLIP). sigmoid: independent binary classification of each pair (Zhai et al., "Sigmoid
  /// Loss for Language Image Pre-Training", 2023).
  enum class Scores { softmax, sigmoid };

  /// Sizes of the towers. If a tower is missing, its fields are 0 and its functions throw Error.
  struct Limits {
    ImageEncoder::Limits images = {.image = {}, .patch = {}, .channels = 0, .special = 0};
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  ///< the maximum length of a text in tokens
    std::int32_t filled = 0;  ///< every text is padded to this length, and tokens attend to the padding; 0: no padding
    std::int64_t text_model = 0;  ///< dimension of a token's state
    std::int64_t vector = 0;      ///< dimension of an embedding
    bool causal = false;          ///< if true, tokens attend only to themselves and earlier tokens
    Scores scores = Scores::softmax;

    bool has_images() const { return images.model > 0; }
    bool has_texts() const { return text_model > 0; }
  };
  const Limits& limits() const { return limits_; }
  /// Throws Error if the model has no image tower.
  void CheckImages() const;
  /// Throws Error if the model has no text tower.
  void CheckTexts() const;

  /// The logarithm of the scale of dot products. Null for a model with only one tower.
  const Parameter* logit_scale() const { return logit_scale_; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

 protected:
  using Model::Model;

  Limits limits_;
  std::optional<Linear> image_projection_, text_projection_;  ///< if empty, the pooled state is the embedding
  const Parameter *logit_scale_ = nullptr, *logit_bias_ = nullptr;
};

}  // namespace headlight
