// What embedding, classifying and looking need to know of a model that reads a text, each of whose tokens sees all
// others.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"
#include "headlight/nn/model.h"

namespace headlight {

class HEADLIGHT_API TextEncoder : public Model {
 public:
  // ids and types [tokens] of the texts, packed; [tokens, model]. Without types all are 0. A text's first token stands
  // at position `first_positions[text]`, or at 0 where that is empty. Throws Error for an id or a type that there is
  // not, and for a text that is longer than the model's positions.
  virtual Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                        const Sequences& texts, std::span<const std::int32_t> first_positions = {}) const = 0;

  struct Limits {
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  // the longest text, in tokens
    std::int64_t types = 1;      // of segments: first text, second text
    std::int32_t pad_id = 0;     // in no text
  };
  virtual const Limits& limits() const = 0;

 protected:
  using Model::Model;
};

}  // namespace headlight
