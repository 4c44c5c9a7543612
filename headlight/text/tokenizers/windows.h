// Texts that are longer than what a model reads at once, cut into windows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/text/text_span.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// A part of an encoding, with all special tokens and any other text.
struct Window {
  Encoding encoding;
  std::int32_t begin = 0;  // of the text that was cut up, the first token in the whole encoding
  std::int32_t first = 0;  // and in the window
  std::int32_t count = 0;  // tokens of it
};

// Windows of at most `longest` tokens over the tokens of `text` (0 or 1), each of which shares `overlap` tokens with
// the one before it, or as many as there is room for but one. One window where all fits. Throws Error where what is not
// cut up leaves no room.
std::vector<Window> SlidingWindows(const Encoding& encoding, std::int32_t text, std::int64_t longest,
                                   std::int64_t overlap);

// For each token of the text that was cut up, the window whose edges it is farthest from: at the text's own ends
// nothing is missing.
std::vector<std::int32_t> WindowOfEachToken(const std::vector<Window>& windows);

// A span without the spaces at its ends.
TextSpan WithoutSpaces(std::string_view text, TextSpan span);

}  // namespace headlight
