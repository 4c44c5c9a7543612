// Tokens as people can read them.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

// The token as valid UTF-8 of at least one visible character. What has no shape of its own, or would change that of its
// neighbours (controls, line ends, marks of direction, spaces other than within a word), is written by its code point,
// <U+202E>; bytes that are not UTF-8 (half a character, in a byte-level vocabulary) are written as <0xE4>; an empty
// token as <empty>.
std::string TokenLabel(std::string_view token);

}  // namespace headlight
