// The preprocessing of sacreBLEU: Python's str.lower and str.split, and the tokenizer "13a".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

// All functions require UTF-8 and throw an internal Error otherwise.

/// Returns the text in lower case by Unicode's full, language-independent mapping (final sigma included).
HEADLIGHT_API std::string LowerCase(std::string_view text);

/// Returns the words between Unicode white space, as views of `text`.
HEADLIGHT_API std::vector<std::string_view> SplitAtSpaces(std::string_view text);

/// Returns the words and marks of a text by 13a's rules for Western languages, without the rules for entities and for
/// the ends of texts.
std::vector<std::string> SeparateMarks(std::string_view text);

/// Returns the words and marks of a line without a newline, by the rules of mteval-v13a.pl (NIST's scorer) as in
/// sacreBLEU's `13a`. Four entities are decoded. ASCII punctuation is separated, except for periods and commas inside
/// numbers, apostrophes, and hyphens that do not follow a digit.
std::vector<std::string> Tokenize13a(std::string_view line);

}  // namespace headlight
