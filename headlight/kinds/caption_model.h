// The interface of models that read pictures and write or read texts about them: captions, answers, matches.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/conditional_decoder.h"
#include "headlight/kinds/picture_encoder.h"

namespace headlight {

class HEADLIGHT_API CaptionModel : public ConditionalDecoder {
 public:
  static constexpr std::string_view kKind = "model of pictures and their captions";

  // Pictures [height, width, channels], which may differ in size. Throws Error for other channels.
  virtual EncodedPictures EncodePictures(Context& context, std::span<const Tensor> pictures) const = 0;
  // The pictures' states as the decoder's cross-attention reads them.
  virtual Memory MemoryOf(Context& context, const EncodedPictures& encoded) const;

  // The states of texts that are read in both directions: ids [tokens], packed, each beside the memory of its picture,
  // or without any; [tokens, model]. Of a model that answers, texts are questions, and their states the memory of the
  // answers' decoder. Throws Error where the model only writes.
  virtual Tensor ReadTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                           const Memory* pictures) const;
  // Of such states whether each text is of its picture, [texts, 2]: no, yes. Throws Error for a model without this
  // head.
  virtual Tensor MatchLogits(Context& context, const Tensor& states, const Sequences& texts) const;
  // Vectors of pictures, and of texts that were read without them, whose cosine says how well they match: [pictures,
  // shared] and [texts, shared], not normalized. Throws Error for a model without them.
  virtual Tensor PictureVectors(Context& context, const EncodedPictures& encoded) const;
  virtual Tensor TextVectors(Context& context, const Tensor& states, const Sequences& texts) const;

  struct Uses {
    bool captions = false;  // MemoryOf a picture, then Decode
    bool answers = false;   // ReadTexts of a question, then Decode
    bool matches = false;   // MatchLogits
    bool vectors = false;   // PictureVectors and TextVectors
  };
  const Uses& uses() const { return uses_; }
  const PictureEncoder::Limits& picture_limits() const { return picture_limits_; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

 protected:
  using ConditionalDecoder::ConditionalDecoder;

  Uses uses_;
  PictureEncoder::Limits picture_limits_;
};

}  // namespace headlight
