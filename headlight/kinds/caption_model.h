// The interface of vision-language models that caption images, answer questions about them, or match them with texts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/conditional_decoder.h"
#include "headlight/kinds/image_encoder.h"

namespace headlight {

class HEADLIGHT_API CaptionModel : public ConditionalDecoder {
 public:
  static constexpr std::string_view kKind = "image captioning model";

  /// Encodes images [height, width, channels], which may differ in size. Throws Error for a different number of
  /// channels.
  virtual EncodedImages EncodeImages(Context& context, std::span<const Tensor> images) const = 0;
  /// Returns the image states that the decoder attends to by cross-attention.
  virtual Memory MemoryOf(Context& context, const EncodedImages& encoded) const;

  /// Encodes texts bidirectionally: ids [tokens], packed, to [tokens, model]. Each text attends to the memory of its
  /// image, unless `images` is null. In models that answer questions, the texts are questions. The decoder that
  /// generates the answers uses the states as its memory. Throws Error if the model cannot encode texts.
  virtual Tensor ReadTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                           const Memory* images) const;
  /// Returns two logits per text, [texts, 2]: the text does not match its image, or matches it. Throws Error for a
  /// model without this head.
  virtual Tensor MatchLogits(Context& context, const Tensor& states, const Sequences& texts) const;
  /// Return embeddings that are not normalized: of images, [images, shared], and of texts encoded without images,
  /// [texts, shared]. The cosine similarity of two embeddings measures how well an image and a text match. Throw Error
  /// for a model without embeddings.
  virtual Tensor ImageVectors(Context& context, const EncodedImages& encoded) const;
  virtual Tensor TextVectors(Context& context, const Tensor& states, const Sequences& texts) const;

  struct Uses {
    bool captions = false;  ///< if true, the model supports MemoryOf for images, followed by Decode
    bool answers = false;   ///< if true, the model supports ReadTexts for questions, followed by Decode
    bool matches = false;   ///< if true, the model supports MatchLogits
    bool vectors = false;   ///< if true, the model supports ImageVectors and TextVectors
  };
  const Uses& uses() const { return uses_; }
  const ImageEncoder::Limits& image_limits() const { return image_limits_; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

 protected:
  using ConditionalDecoder::ConditionalDecoder;

  Uses uses_;
  ImageEncoder::Limits image_limits_;
  /// The logarithm of the factor for dot products of embeddings. Null if dot products are not scaled.
  const Parameter* logit_scale_ = nullptr;
};

}  // namespace headlight
