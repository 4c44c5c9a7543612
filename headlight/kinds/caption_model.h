// The interface of models that read images and write or read texts about them: captions, answers, matches.
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
  static constexpr std::string_view kKind = "model of images and their captions";

  // Images [height, width, channels], which may differ in size. Throws Error for other channels.
  virtual EncodedImages EncodeImages(Context& context, std::span<const Tensor> images) const = 0;
  // The images' states as the decoder's cross-attention reads them.
  virtual Memory MemoryOf(Context& context, const EncodedImages& encoded) const;

  // The states of texts that are read in both directions: ids [tokens], packed, each beside the memory of its image,
  // or without any; [tokens, model]. Of a model that answers, texts are questions, and their states the memory of the
  // answers' decoder. Throws Error where the model only writes.
  virtual Tensor ReadTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                           const Memory* images) const;
  // Of such states whether each text is of its image, [texts, 2]: no, yes. Throws Error for a model without this
  // head.
  virtual Tensor MatchLogits(Context& context, const Tensor& states, const Sequences& texts) const;
  // Vectors of images, and of texts that were read without them, whose cosine says how well they match: [images,
  // shared] and [texts, shared], not normalized. Throws Error for a model without them.
  virtual Tensor ImageVectors(Context& context, const EncodedImages& encoded) const;
  virtual Tensor TextVectors(Context& context, const Tensor& states, const Sequences& texts) const;

  struct Uses {
    bool captions = false;  // MemoryOf an image, then Decode
    bool answers = false;   // ReadTexts of a question, then Decode
    bool matches = false;   // MatchLogits
    bool vectors = false;   // ImageVectors and TextVectors
  };
  const Uses& uses() const { return uses_; }
  const ImageEncoder::Limits& image_limits() const { return image_limits_; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

 protected:
  using ConditionalDecoder::ConditionalDecoder;

  Uses uses_;
  ImageEncoder::Limits image_limits_;
  // The logarithm of what the products of vectors are multiplied by; null: the model does not scale them.
  const Parameter* logit_scale_ = nullptr;
};

}  // namespace headlight
