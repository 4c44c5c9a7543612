// The patterns of a tokenizer.json: texts and regular expressions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/text_span.h"

namespace headlight {

/// A text, or a regular expression of Oniguruma, which the tokenizers library uses, matched by ICU.
class TextPattern {
 public:
  explicit TextPattern(std::string text);
  /// Throws Error, which begins with `place`, where it is not a regular expression, or one that ICU reads differently.
  static TextPattern Regular(const std::string& expression, const std::string& place);

  /// The matches in the text, which is UTF-8, from the left. An empty match never follows another one at once. Throws
  /// Error where matching takes too long or too much memory, which a pattern can make grow exponentially.
  std::vector<TextSpan> Matches(std::string_view text) const;

 private:
  struct Regex;
  std::string text_;
  std::shared_ptr<const Regex> regex_;  // nullptr: the text
};

}  // namespace headlight
