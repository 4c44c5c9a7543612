// Unicode properties of characters, as far as tokenizers need them. ICU 72 has Unicode 15.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/text/utf8.h"

namespace headlight {

bool IsWhiteSpaceBeyondAscii(char32_t character);
inline bool IsWhiteSpace(char32_t character) {  // the property White_Space
  return character < 0x80 ? character == U' ' || (character >= 0x9 && character <= 0xD)
                          : IsWhiteSpaceBeyondAscii(character);
}
inline bool IsAsciiPunctuation(char32_t c) {
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}
bool IsPunctuation(char32_t character);     // the general category P
bool IsNonspacingMark(char32_t character);  // Mn
bool IsMark(char32_t character);            // M
bool IsWordCharacter(char32_t character);   // \w of regular expressions (UTS 18, annex C)
bool IsOther(char32_t character);           // C without unassigned characters: controls, formats, private use

// The character classes of byte-level BPE (Radford et al., "Language Models are Unsupervised Multitask Learners",
// 2019).
enum class CharacterClass : unsigned char { space, letter, number, other };
CharacterClass ClassOf(char32_t character);

// Counts the bytes that begin a character of UTF-8.
inline std::int64_t CountCharacters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

// Calls body(character, begin, end) for each character of the text, which is UTF-8, with its bytes [begin, end).
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

// Calls body(part) for the parts of a text, in order, of at most `longest` (>= 4) bytes each, which end with a
// character.
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
