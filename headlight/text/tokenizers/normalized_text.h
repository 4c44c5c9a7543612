// Normalized text with the original span of each byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/characters.h"
#include "headlight/text/text_span.h"

namespace headlight {

struct NormalizedText {
  NormalizedText() = default;
  /// Constructs an unchanged part of a text.
  NormalizedText(std::string_view whole, TextSpan part);

  /// Returns an empty text for the same part and with the same limit, to which a normalizer appends its result.
  NormalizedText Fresh() const;
  /// Throws Error if the text becomes longer than `longest`.
  void Append(char32_t character, TextSpan origin);
  void CheckLength(std::size_t bytes) const;
  NormalizedText Part(TextSpan bytes) const;
  /// Returns the original span of a non-empty range of bytes.
  TextSpan Origin(TextSpan bytes) const { return {origins[bytes.begin].begin, origins[bytes.end - 1].end}; }
  std::int32_t size() const { return static_cast<std::int32_t>(text.size()); }

  std::int32_t start = 0;   ///< the first byte of the part in the original text
  std::size_t longest = 0;  ///< maximum number of bytes, so that the rules of a hostile file cannot exhaust memory
  std::string text;         ///< UTF-8
  std::vector<TextSpan> origins;  ///< by byte of `text`
};

/// An output character and the number of input characters that it replaces.
struct Change {
  char32_t character;
  std::int32_t by;  ///< 0: replaces one input character; 1: is inserted; -n: replaces n + 1 input characters
};

/// Applies the changes from left to right. An inserted character has the origin of the previous input character.
void Apply(const std::vector<Change>& changes, NormalizedText& text);

/// Calls map(character, put) for each character, and replaces it with the characters that map passes to put.
template <typename Map>
void MapCharacters(NormalizedText& text, const Map& map) {
  NormalizedText mapped = text.Fresh();
  mapped.text.reserve(text.text.size());
  mapped.origins.reserve(text.text.size());
  ForEachCharacter(text.text, [&](char32_t character, std::size_t begin, std::size_t) {
    map(character, [&](char32_t put) { mapped.Append(put, text.origins[begin]); });
  });
  text = std::move(mapped);
}

}  // namespace headlight
