// Readable labels of tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// Returns the token as valid UTF-8 with at least one visible character. Control characters, line ends, format
/// characters and tokens of only spaces are written as code points, such as <U+202E>. Bytes that are not UTF-8, such as
/// incomplete characters in a byte-level vocabulary, are written as <0xE4>. An empty token is written as <empty>.
std::string TokenLabel(std::string_view token);

/// Returns the labels of consecutive tokens as valid UTF-8. If the bytes of a character are divided among tokens, each
/// of these tokens shows the character and a fraction, such as "🙂(1/3)". Other bytes that are not UTF-8 are written
/// as <0xE4>.
std::vector<std::string> JoinCharacters(const std::vector<std::string>& tokens);

}  // namespace headlight
