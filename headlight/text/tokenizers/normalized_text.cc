#include "headlight/text/tokenizers/normalized_text.h"

#include "headlight/base/error.h"

namespace headlight {
namespace {

// Limits how much normalizers may lengthen a text. Unicode's longest decomposition is U+FDFA: 3 bytes become 33.
constexpr std::size_t kMostGrowth = 32, kMostAdded = 256;

}  // namespace

NormalizedText::NormalizedText(std::string_view whole, TextSpan part)
    : start(part.begin),
      longest(kMostGrowth * static_cast<std::size_t>(part.end - part.begin) + kMostAdded),
      text(whole.substr(part.begin, part.end - part.begin)),
      origins(text.size()) {
  ForEachCharacter(text, [&](char32_t, std::size_t begin, std::size_t end) {
    const TextSpan character{part.begin + static_cast<std::int32_t>(begin),
                             part.begin + static_cast<std::int32_t>(end)};
    for (std::size_t byte = begin; byte < end; ++byte) origins[byte] = character;
  });
}

NormalizedText NormalizedText::Fresh() const {
  NormalizedText fresh;
  fresh.start = start;
  fresh.longest = longest;
  return fresh;
}

void NormalizedText::CheckLength(std::size_t bytes) const {
  Check(bytes <= longest, "the normalizers lengthen a text of {} bytes to more than {}",
        (longest - kMostAdded) / kMostGrowth, longest);
}

void NormalizedText::Append(char32_t character, TextSpan origin) {
  if (text.size() >= longest) [[unlikely]]
    CheckLength(text.size() + 1);
  AppendUtf8(text, character);
  origins.resize(text.size(), origin);
}

void Apply(const std::vector<Change>& changes, NormalizedText& text) {
  NormalizedText changed = text.Fresh();
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
  NormalizedText part = Fresh();
  part.start = origins[bytes.begin].begin;
  part.text = text.substr(bytes.begin, bytes.end - bytes.begin);
  part.origins.assign(origins.begin() + bytes.begin, origins.begin() + bytes.end);
  return part;
}

}  // namespace headlight
