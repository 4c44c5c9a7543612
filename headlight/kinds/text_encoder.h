// The interface of bidirectional encoders of texts, for training, embedding, classification and inspection.
//
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/context.h"
#include "headlight/nn/heads.h"

namespace headlight {

class HEADLIGHT_API TextEncoder : public Model, public TextHeads {
 public:
  static constexpr std::string_view kKind = "encoder of texts";

  // ids and types [tokens] of the texts, packed; [tokens, model]. Without types all are 0. A text's first token stands
  // at position `first_positions[text]`, or at 0 where that is empty. Throws Error for an id or a type
  // outside its table, and for a text that is longer than the model's positions.
  virtual Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                        const Sequences& texts, std::span<const std::int32_t> first_positions = {}) const = 0;

  struct Limits {
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  // the longest text, in tokens
    std::int64_t types = 1;      // of segments: first text, second text; where there are none, types are not looked at
    std::int32_t pad_id = 0;     // in no text
    std::int64_t model = 0;      // numbers of a state
    // True where Transformers counts positions from the first column of a padded row, not from the text's first token.
    bool padding_has_positions = true;
  };
  const Limits& limits() const { return limits_; }

  // True if callers give `Encode` the types of a tokenizer: the model has several, and its files do not leave them out.
  bool reads_types() const { return limits_.types > 1 && !leaves_out_types_; }
  // All types are 0: the tokenizer's model_input_names has no token_type_ids.
  void LeaveOutTypes() { leaves_out_types_ = true; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

  // The same model with other heads and the poolers that they need; its parameters are declared, not filled.
  virtual std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& heads) const = 0;

 protected:
  using Model::Model;

  Limits limits_;

 private:
  bool leaves_out_types_ = false;
};

// A model with the encoder of `model` and with those heads that both have with the same labels; the other heads are
// initialised from the seed.
HEADLIGHT_API std::unique_ptr<TextEncoder> GiveHeads(const TextEncoder& model, const TextHeadsConfig& heads,
                                                     std::uint64_t seed);

}  // namespace headlight
