// Text on its way to tokens, which remembers where it came from.
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
  // A part of a text, whose characters stand for themselves.
  NormalizedText(std::string_view whole, TextSpan part);

  void Append(char32_t character, TextSpan origin);
  NormalizedText Part(TextSpan bytes) const;
  // What of the whole these bytes, at least one, stand for.
  TextSpan Origin(TextSpan bytes) const { return {origins[bytes.begin].begin, origins[bytes.end - 1].end}; }
  std::int32_t size() const { return static_cast<std::int32_t>(text.size()); }

  std::int32_t start = 0;         // of the part
  std::string text;               // UTF-8
  std::vector<TextSpan> origins;  // of each byte of `text`: what it stands for
};

// A character to write, and what it does to those that are there.
struct Change {
  char32_t character;
  std::int32_t by;  // 0: it replaces the next one; n: it is put in; -n: it replaces the next one, and n after it go
};

// Goes through the text's characters in step with the changes. A character that is put in stands for what the one
// before it in the text stands for.
void Apply(const std::vector<Change>& changes, NormalizedText& text);

// Calls map(character, put) for each character, and replaces it by those that it calls put(character) with.
template <typename Map>
void MapCharacters(NormalizedText& text, const Map& map) {
  NormalizedText mapped;
  mapped.start = text.start;
  mapped.text.reserve(text.text.size());
  mapped.origins.reserve(text.text.size());
  ForEachCharacter(text.text, [&](char32_t character, std::size_t begin, std::size_t) {
    map(character, [&](char32_t put) { mapped.Append(put, text.origins[begin]); });
  });
  text = std::move(mapped);
}

}  // namespace headlight
