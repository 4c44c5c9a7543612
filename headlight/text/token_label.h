// Tokens made readable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight {

// The token as valid UTF-8 with at least one visible character. Controls, line ends, formats and a token of nothing but
// spaces are written by code point, as <U+202E>; bytes that are not UTF-8 (part of a character, in a byte-level
// vocabulary) as <0xE4>; an empty token as <empty>.
std::string TokenLabel(std::string_view token);

// The texts of tokens that follow one another, as valid UTF-8: a character whose bytes are divided among tokens stands
// in each of them with its part, as in "🙂(1/3)", and a byte that is not UTF-8 is spelled as <0xE4>.
std::vector<std::string> JoinCharacters(const std::vector<std::string>& tokens);

}  // namespace headlight
