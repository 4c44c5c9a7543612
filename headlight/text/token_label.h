// Tokens made readable.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

// The token as valid UTF-8 with at least one visible character. Controls, line ends, formats and a token of nothing but
// spaces are written by code point, as <U+202E>; bytes that are not UTF-8 (part of a character, in a byte-level
// vocabulary) as <0xE4>; an empty token as <empty>.
std::string TokenLabel(std::string_view token);

}  // namespace headlight
