// The patterns of a tokenizer.json: literal texts and regular expressions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/text_span.h"

namespace headlight {

/// A literal text, or a regular expression in the syntax of Oniguruma (as in the tokenizers library), matched by ICU.
class TextPattern {
 public:
  explicit TextPattern(std::string text);
  /// Throws Error, which begins with `place`, for an invalid expression, and for one that ICU interprets differently.
  static TextPattern Regular(const std::string& expression, const std::string& place);

  /// The matches in the UTF-8 text, from the left. An empty match never directly follows another match. Throws Error if
  /// matching takes too long or too much memory, which can grow exponentially for some patterns.
  std::vector<TextSpan> Matches(std::string_view text) const;

 private:
  struct Regex;
  std::string text_;
  std::shared_ptr<const Regex> regex_;  // nullptr: a literal text
};

}  // namespace headlight
