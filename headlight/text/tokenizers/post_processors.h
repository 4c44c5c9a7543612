// What tokenizers put around a text's tokens, as the tokenizers library does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace headlight {

// What stands at one place: a text's tokens, or added ones.
struct TemplatePart {
  std::int32_t text = -1;         // 0 or 1: the first or second text; -1: these ids
  std::vector<std::int32_t> ids;  // of special tokens
  std::int32_t type_id = 0;
};
using Template = std::vector<TemplatePart>;

struct PostProcessor {
  Template single = {{0, {}, 0}};
  Template pair = {{0, {}, 0}, {1, {}, 1}};
  // Where given: a token's span is without the white space at its ends, but for a first token's space where the
  // tokenizer puts one before a text (true).
  std::optional<bool> trim_offsets;
};

}  // namespace headlight
