// The interface of encoder-decoder models, for training, decoding and inspection.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/conditional_decoder.h"

namespace headlight {

class HEADLIGHT_API EncoderDecoder : public ConditionalDecoder {
 public:
  static constexpr std::string_view kKind = "encoder-decoder model";

  /// Encodes ids [source tokens], packed, to [source tokens, model].
  virtual Tensor Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences) const = 0;

  NamedTensors Forward(const Safetensors& inputs) const override;

 protected:
  using ConditionalDecoder::ConditionalDecoder;
};

}  // namespace headlight
