// What embedding, classifying and looking need to know of a model that reads a text, each of whose tokens sees all
// others.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"
#include "headlight/nn/heads.h"
#include "headlight/nn/model.h"

namespace headlight {

class HEADLIGHT_API TextEncoder : public Model {
 public:
  static constexpr std::string_view kKind = "encoder of texts";

  // ids and types [tokens] of the texts, packed; [tokens, model]. Without types all are 0. A text's first token stands
  // at position `first_positions[text]`, or at 0 where that is empty. Throws Error for an id or a type that there is
  // not, and for a text that is longer than the model's positions.
  virtual Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                        const Sequences& texts, std::span<const std::int32_t> first_positions = {}) const = 0;

  struct Limits {
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  // the longest text, in tokens
    std::int64_t types = 1;      // of segments: first text, second text; where there are none, types are not looked at
    std::int32_t pad_id = 0;     // in no text
    std::int64_t model = 0;      // numbers of a state
    // Whether Transformers counts positions from the first column of a padded row, not from the text's first token.
    bool padding_has_positions = true;
  };
  virtual const Limits& limits() const = 0;

  Json::Object Description() const override;

  // The same model with other heads, and what these stand on; its parameters are declared, not filled.
  virtual std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& heads) const = 0;

  // What stands on what Encode gives, `hidden` [tokens, model], or some of its rows. Each throws Error where the model
  // does not have it.
  const TextHeadsConfig& heads() const { return heads_.config; }
  Tensor Pool(Context& context, const Tensor& hidden, const Sequences& texts) const;  // [texts, model]
  Tensor MaskedWordLogits(Context& context, const Tensor& hidden) const;              // [rows, vocabulary]
  Tensor NextSentenceLogits(Context& context, const Tensor& pooled) const;            // [texts, 2]: it is, it is not
  Tensor SequenceClassLogits(Context& context, const Tensor& hidden, const Sequences& texts) const;  // [texts, labels]
  Tensor TokenClassLogits(Context& context, const Tensor& hidden) const;                             // [rows, labels]
  Tensor SpanLogits(Context& context, const Tensor& hidden) const;  // [rows, 2]: an answer begins, ends here

 protected:
  using Model::Model;

  TextHeads heads_;
};

// A model whose encoder is that of `model`, and so are the heads that both have, with the same labels; the others begin
// anew, from the seed.
HEADLIGHT_API std::unique_ptr<TextEncoder> GiveHeads(const TextEncoder& model, const TextHeadsConfig& heads,
                                                     std::uint64_t seed);

}  // namespace headlight
