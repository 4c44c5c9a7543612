// The patterns of a tokenizer.json: literal texts and regular expressions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/text_span.h"

namespace headlight {

/// A literal text, or a regular expression in the syntax of Oniguruma, as in the tokenizers library. ICU matches the
/// regular expressions.
class TextPattern {
 public:
  explicit TextPattern(std::string text);
  /// Compiles a regular expression. Throws Error, with a message that begins with `location`, if it is invalid or ICU
  /// interprets it differently.
  static TextPattern Regular(const std::string& expression, const std::string& location);

  /// Returns the matches in the UTF-8 text from left to right. An empty match never directly follows another match.
  /// Throws Error if matching exceeds the limits of time or memory. Some patterns need exponential time or memory.
  std::vector<TextSpan> Matches(std::string_view text) const;

 private:
  struct Regex;
  std::string text_;
  std::shared_ptr<const Regex> regex_;  // null for a literal text
};

}  // namespace headlight
