#include "headlight/text/tokenizers/siglip_text.h"

#include <unicode/uchar.h>

#include <utility>

#include "headlight/text/characters.h"
#include "headlight/text/tokenizers/normalizers.h"

namespace headlight {
namespace {

constexpr char32_t kSigma = 0x3A3, kFinalSigma = 0x3C2, kSpaceCharacter = 0x2581;

bool Has(char32_t character, UProperty property) {
  return u_hasBinaryProperty(static_cast<UChar32>(character), property) != 0;
}

// Returns true for white space in Python: Unicode white space and the information separators.
bool IsSpace(char32_t c) { return IsWhiteSpace(c) || (c >= 0x1C && c <= 0x1F); }

}  // namespace

void LowercaseInContext(NormalizedText& text) {
  // For each sigma, true if it is in Unicode's Final_Sigma context: a cased letter precedes the sigma, and no cased
  // letter follows it. Case-ignorable characters between them are skipped.
  std::vector<bool> ends_word;
  bool after_cased = false;
  ForEachCharacter(text.text, [&](char32_t c, std::size_t, std::size_t) {
    if (c == kSigma) ends_word.push_back(after_cased);
    if (!Has(c, UCHAR_CASE_IGNORABLE)) after_cased = Has(c, UCHAR_CASED);
  });
  if (!ends_word.empty()) {
    // `waiting` is the index of the last sigma until a character that is not case-ignorable follows.
    std::size_t sigma = 0, waiting = ends_word.size();
    ForEachCharacter(text.text, [&](char32_t c, std::size_t, std::size_t) {
      if (!Has(c, UCHAR_CASE_IGNORABLE)) {
        if (waiting < ends_word.size() && Has(c, UCHAR_CASED)) ends_word[waiting] = false;
        waiting = ends_word.size();
      }
      if (c == kSigma) waiting = sigma++;
    });
    sigma = 0;
    MapCharacters(text, [&](char32_t c, const auto& put) {
      const bool ends = c == kSigma && ends_word[sigma++];
      put(ends ? kFinalSigma : c);
    });
  }
  Lowercase(text);
}

void CanonicalizeForSiglip(bool lowercase, bool first, NormalizedText& text) {
  if (lowercase) LowercaseInContext(text);
  NormalizedText words = text.Fresh();
  TextSpan space{-1, -1};  // the white space after the last word
  bool any = first;
  if (first) words.Append(kSpaceCharacter, {text.start, text.start});
  ForEachCharacter(text.text, [&](char32_t c, std::size_t begin, std::size_t) {
    const TextSpan origin = text.origins[begin];
    if (IsSpace(c) || c == kSpaceCharacter) {
      if (any && space.begin < 0) space = origin;
    } else if (!IsAsciiPunctuation(c)) {
      if (space.begin >= 0) words.Append(U' ', std::exchange(space, {-1, -1}));
      words.Append(c, origin);
      any = true;
    }
  });
  text = std::move(words);
}

SiglipText::SiglipText(const SentencePieceModel& model, const std::string& name, bool lowercase, std::string before)
    : normalizer_(model, name), lowercase_(lowercase), before_(std::move(before)) {}

void SiglipText::operator()(NormalizedText& text, bool first) const {
  CanonicalizeForSiglip(lowercase_, first, text);
  NormalizedText normalized = text.Fresh();
  std::vector<std::int32_t> offsets;
  normalizer_.Normalize(before_ + text.text, normalized.text, &offsets);
  normalized.CheckLength(normalized.text.size());
  const auto skipped = static_cast<std::int32_t>(before_.size());
  for (std::size_t byte = 0; byte < normalized.text.size(); ++byte) {
    const std::int32_t offset = offsets[byte] - skipped;
    normalized.origins.push_back(offset < 0 ? TextSpan{text.start, text.start} : text.origins[offset]);
  }
  text = std::move(normalized);
}

WordModel WithoutSegments(std::ptrdiff_t segments, WordModel model) {
  return [segments, model = std::move(model)](std::string_view word, std::vector<Segment>& appended) {
    const auto given = std::ssize(appended);
    model(word, appended);
    if (std::ssize(appended) - given >= segments)
      appended.erase(appended.begin() + given, appended.begin() + given + segments);
  };
}

}  // namespace headlight
