// The Unicode properties of characters that tokenizers use, as in ICU 72 (Unicode 15).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/text/utf8.h"

namespace headlight {

bool IsWhiteSpaceBeyondAscii(char32_t character);
inline bool IsWhiteSpace(char32_t character) {  // true for the property White_Space
  return character < 0x80 ? character == U' ' || (character >= 0x9 && character <= 0xD)
                          : IsWhiteSpaceBeyondAscii(character);
}
inline bool IsAsciiPunctuation(char32_t c) {
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}
bool IsPunctuation(char32_t character);     ///< true for the general category P
bool IsNonspacingMark(char32_t character);  ///< true for the general category Mn
bool IsMark(char32_t character);            ///< true for the general category M
bool IsWordCharacter(char32_t character);   ///< true for \w in regular expressions (UTS 18, annex C)
/// Returns true for control, format and private-use characters (assigned characters of category C).
bool IsOther(char32_t character);

/// The character classes of byte-level BPE (Radford et al., "Language Models are Unsupervised Multitask Learners",
/// 2019).
enum class CharacterClass : unsigned char { space, letter, number, other };
CharacterClass ClassOf(char32_t character);

/// Returns the number of UTF-8 characters of `text`, counted by their first bytes.
inline std::int64_t CountCharacters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

/// Calls body(character, begin, end) for each character of the UTF-8 text and its bytes [begin, end).
template <typename Body>
void ForEachCharacter(std::string_view text, const Body& body) {
  for (std::size_t begin = 0; begin < text.size();) {
    const Utf8Character character = DecodeUtf8(text.substr(begin));
    Ensure(character.bytes > 0, "byte {} is not UTF-8", begin);
    const std::size_t end = begin + static_cast<std::size_t>(character.bytes);
    body(character.code, begin, end);
    begin = end;
  }
}

/// Divides a text into parts of at most `longest` (>= 4) bytes at character boundaries, and calls body(part) for each
/// part.
template <typename Body>
void ForEachPart(std::string_view text, std::size_t longest, const Body& body) {
  while (text.size() > longest) {
    std::size_t cut = longest;
    while ((text[cut] & 0xC0) == 0x80) --cut;
    body(text.substr(0, cut));
    text.remove_prefix(cut);
  }
  body(text);
}

}  // namespace headlight
