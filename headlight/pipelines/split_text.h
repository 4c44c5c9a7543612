// Splits texts that are too long for a model.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

struct TextPart {
  std::string_view text;             ///< a view of the whole text
  std::vector<std::int32_t> tokens;  ///< at most `most` tokens
  std::vector<TextSpan> spans;       ///< the bytes of each token within `text`
};

/// Splits `text` into parts of at most `most` tokens. A text without words has no parts. A text that is too long is cut
/// in two, and each half is split recursively. The cut is within the middle half of the tokens, at the first of these
/// kinds of boundaries that occurs there:
/// - after the end of a sentence (. ! ? and similar, with closing quotes and brackets),
/// - after a clause (, ; : and similar),
/// - after a word,
/// - after a token.
///
/// Among boundaries of the same kind, the nearest to the middle is used. A target language, as in ">>fra<< Hello", is
/// repeated in each part. Throws Error if one character does not fit.
std::vector<TextPart> SplitText(const Tokenizer& tokenizer, std::string_view text, std::int64_t most);

}  // namespace headlight
