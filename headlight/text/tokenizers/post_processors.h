// The special tokens around texts, as defined by a `tokenizer.json`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace headlight {

/// The position of a text's tokens in a template, or special tokens.
struct TemplatePart {
  std::int32_t text = -1;         ///< 0 or 1: the tokens of the first or second text; -1: the special tokens `ids`
  std::vector<std::int32_t> ids;  ///< ids of special tokens
  std::int32_t type_id = 0;
};
using Template = std::vector<TemplatePart>;

struct PostProcessor {
  Template single = {{0, {}, 0}};
  Template pair = {{0, {}, 0}, {1, {}, 1}};
  /// If set, spans exclude the white space at both ends of a token. If true, the space that the pre-tokenizer adds
  /// before the first word is not excluded.
  std::optional<bool> trim_offsets;
};

}  // namespace headlight
