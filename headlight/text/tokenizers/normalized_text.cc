#include "headlight/text/tokenizers/normalized_text.h"

namespace headlight {

NormalizedText::NormalizedText(std::string_view whole, TextSpan part)
    : start(part.begin), text(whole.substr(part.begin, part.end - part.begin)), origins(text.size()) {
  ForEachCharacter(text, [&](char32_t, std::size_t begin, std::size_t end) {
    const TextSpan character{part.begin + static_cast<std::int32_t>(begin),
                             part.begin + static_cast<std::int32_t>(end)};
    for (std::size_t byte = begin; byte < end; ++byte) origins[byte] = character;
  });
}

void NormalizedText::Append(char32_t character, TextSpan origin) {
  AppendUtf8(text, character);
  origins.resize(text.size(), origin);
}

void Apply(const std::vector<Change>& changes, NormalizedText& text) {
  NormalizedText changed;
  changed.start = text.start;
  std::size_t at = 0;
  const auto skip = [&] {
    if (at < text.text.size()) at += static_cast<std::size_t>(DecodeUtf8(std::string_view(text.text).substr(at)).bytes);
  };
  for (const Change& change : changes) {
    if (change.by > 0) {
      changed.Append(change.character, at == 0 ? TextSpan{text.start, text.start} : text.origins[at - 1]);
      continue;
    }
    Ensure(at < text.text.size(), "a change replaces a character after the end of the text");
    changed.Append(change.character, text.origins[at]);
    for (std::int32_t i = change.by; i <= 0; ++i) skip();
  }
  text = std::move(changed);
}

NormalizedText NormalizedText::Part(TextSpan bytes) const {
  NormalizedText part;
  part.start = origins[bytes.begin].begin;
  part.text = text.substr(bytes.begin, bytes.end - bytes.begin);
  part.origins.assign(origins.begin() + bytes.begin, origins.begin() + bytes.end);
  return part;
}

}  // namespace headlight
