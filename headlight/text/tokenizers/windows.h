// Sliding windows over encodings that are longer than a model's maximum length.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/text/text_span.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

/// A range of one text's tokens, with all special tokens and the tokens of the other text.
struct Window {
  Encoding encoding;
  std::int32_t begin = 0;  ///< index of the range's first token in the whole encoding
  std::int32_t first = 0;  ///< index of the range's first token in the window
  std::int32_t count = 0;  ///< number of tokens in the range
};

/// Divides the tokens of `text` (0 or 1) into windows of at most `longest` tokens. Each window overlaps the previous
/// window by `overlap` tokens, or by fewer if it would otherwise have no new token. Returns one window if all tokens
/// fit. Throws Error if the special tokens and the other text leave no space.
std::vector<Window> SlidingWindows(const Encoding& encoding, std::int32_t text, std::int64_t longest,
                                   std::int64_t overlap);

/// For each token of the windowed text, returns the window in which the token is farthest from an edge. The ends of the
/// text do not count as edges.
std::vector<std::int32_t> WindowOfEachToken(const std::vector<Window>& windows);

/// Returns the span without the spaces at its ends.
TextSpan WithoutSpaces(std::string_view text, TextSpan span);

}  // namespace headlight
