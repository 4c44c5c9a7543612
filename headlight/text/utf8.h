// UTF-8 decoding with all checks that Unicode requires: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

struct Utf8Character {
  char32_t code = 0;
  int bytes = 0;  ///< 0 if the text is empty or does not begin with a character
};

/// Decodes the first character of `text`.
HEADLIGHT_API Utf8Character DecodeUtf8(std::string_view text);

/// Returns the length in bytes of the longest valid UTF-8 prefix of `text`.
HEADLIGHT_API std::size_t ValidUtf8(std::string_view text);

/// Throws Error "NAME: byte N is not UTF-8" (N counts from 0) unless all of `text` is valid. `name` describes the text,
/// such as "corpus.de: line 7".
HEADLIGHT_API void CheckUtf8(std::string_view text, std::string_view name);

HEADLIGHT_API void AppendUtf8(std::string& text, char32_t code);

}  // namespace headlight
