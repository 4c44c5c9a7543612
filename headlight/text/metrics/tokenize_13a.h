// sacreBLEU's preprocessing: Python's str.lower and str.split, and the tokenizer "13a".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

// All of these take UTF-8 and throw an internal Error for anything else.

// Lower case by Unicode's full mapping, in no particular language (final sigma included).
HEADLIGHT_API std::string LowerCase(std::string_view text);

// The words between Unicode's white space; pieces of `text`.
HEADLIGHT_API std::vector<std::string_view> SplitAtSpaces(std::string_view text);

// The words and marks of a text by the rules of 13a for Western languages, without those for its ends and for entities.
std::vector<std::string> SeparateMarks(std::string_view text);

// The words and marks of a line, which has no newline in it, by the rules of mteval-v13a.pl, NIST's scorer, as
// sacreBLEU's `13a` follows them: four entities are decoded, ASCII punctuation stands alone but for periods and commas
// inside numbers, apostrophes, and hyphens that follow no digit.
std::vector<std::string> Tokenize13a(std::string_view line);

}  // namespace headlight
