// What training, generating, scoring and looking need to know of a model that continues a text: a decoder alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"
#include "headlight/nn/model.h"
#include "headlight/ops/linear.h"

namespace headlight {

class HEADLIGHT_API LanguageModel : public Model {
 public:
  static constexpr std::string_view kKind = "language model";

  // The hidden state after each of the ids [tokens], each of which sees its text's earlier ones; [tokens, model]. With
  // a cache in the context, the ids are every text's next tokens. Throws Error for an id that there is not, and for a
  // text that is longer than the model's positions.
  virtual Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const = 0;

  // What turns a hidden state into a score for each next word: hidden weight^T + bias. The bias may be empty.
  virtual ops::Weight OutputWeight(Context& context) const = 0;         // [vocab, model]
  virtual Tensor OutputBias(Context& /*context*/) const { return {}; }  // [vocab]
  Tensor Logits(Context& context, const Tensor& hidden) const {
    return ops::Linear(hidden, OutputWeight(context), OutputBias(context));
  }

  struct Limits {
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  // the longest text, in tokens
    std::int32_t end_id = -1;    // ends a text; -1 where nothing does
  };
  virtual const Limits& limits() const = 0;

  Json::Object Description() const override { return {{"positions", limits().positions}}; }

 protected:
  using Model::Model;
};

}  // namespace headlight
