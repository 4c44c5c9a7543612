// UTF-8, read with every check that Unicode asks for: no overlong form, no surrogate, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

struct Utf8Character {
  char32_t code = 0;
  int bytes = 0;  // 0 where the text is empty or does not begin with a character
};

// The character that `text` begins with.
HEADLIGHT_API Utf8Character DecodeUtf8(std::string_view text);

// How many bytes of `text`, from its start, are UTF-8: its size where all are.
HEADLIGHT_API std::size_t ValidUtf8(std::string_view text);

// Throws Error "NAME: byte N is not UTF-8" (counted from 0) unless all of `text` is. `name` says whose text it is, such
// as "corpus.de: line 7".
HEADLIGHT_API void CheckUtf8(std::string_view text, std::string_view name);

HEADLIGHT_API void AppendUtf8(std::string& text, char32_t code);

}  // namespace headlight
