// Dividing a text that is longer than a model can read.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

struct TextPart {
  std::string_view text;             // of the whole
  std::vector<std::int32_t> tokens;  // at most as many as fit
  std::vector<TextSpan> spans;       // of each token, the bytes within `text`
};

// `text` as one part where it has at most `most` tokens, and as none where it has no words. Else it is cut in two, each
// of which is divided likewise: at the best place of its middle half, by tokens; after the end of a sentence (. ! ? and
// their like, with the quotes and brackets that close it), or else after a clause (, ; : and their like), or else after
// a word, or else after a token; of equal ones at that nearest to the middle. A language to write, as in ">>fra<<
// Hello", is repeated in each part. Throws Error where not even one character fits.
std::vector<TextPart> SplitText(const Tokenizer& tokenizer, std::string_view text, std::int64_t most);

}  // namespace headlight
