// Readable forms of tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// The token as valid UTF-8 with at least one visible character. Controls, line ends, format characters and tokens of
/// only spaces are written as code points, such as <U+202E>. Bytes that are not UTF-8 (parts of a character in a
/// byte-level vocabulary) are written as <0xE4>, and an empty token as <empty>.
std::string TokenLabel(std::string_view token);

/// Labels of consecutive tokens, as valid UTF-8. A character whose bytes are divided among tokens is shown in each of
/// them with its part, as in "🙂(1/3)". Other bytes that are not UTF-8 are written as <0xE4>.
std::vector<std::string> JoinCharacters(const std::vector<std::string>& tokens);

}  // namespace headlight
