// The interface of decoders that generate a text from a memory: the encoder's states of any input.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/context.h"
#include "headlight/nn/transformer_layers.h"
#include "headlight/ops/linear.h"

namespace headlight {

class HEADLIGHT_API ConditionalDecoder : public Model {
 public:
  /// Returns the hidden states [target tokens, model] of ids [target tokens]. A token attends to itself, to the earlier
  /// tokens of its sequence and to its memory. With a cache in the context, the ids are the next tokens of every
  /// sequence.
  virtual Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                        const Memory& memory) const = 0;

  /// The output projection. The logits of all tokens are hidden weight^T + bias. The bias may be empty.
  ops::Weight OutputWeight(Context& context) const { return context.UseWeight(*output_); }  ///< [vocab, model]
  Tensor OutputBias(Context& context) const {                                               ///< [vocab]
    return output_bias_ == nullptr ? Tensor() : context.Use(*output_bias_);
  }
  Tensor Logits(Context& context, const Tensor& hidden) const {
    return ops::Linear(hidden, OutputWeight(context), OutputBias(context));
  }

  struct Limits {
    std::int64_t source_vocabulary = 0, target_vocabulary = 0;  ///< source_vocabulary is 0 if the input is not text
    std::int64_t positions = 0;                                 ///< the maximum length of source and target in tokens
    std::int32_t start_id = 0;                                  ///< the decoder's first input token
    std::int32_t end_id = 0;                                    ///< the last token of every sequence
    std::int32_t pad_id = 0;                                    ///< never generated; -1 if there is none
  };
  const Limits& limits() const { return limits_; }

  Json::Object Description() const override { return WithLayerSizes({{"positions", limits_.positions}}); }

 protected:
  using Model::Model;

  Limits limits_;
  const Parameter *output_ = nullptr, *output_bias_ = nullptr;  ///< output_bias_ may be null
};

}  // namespace headlight
