#include "headlight/text/tokenizers/normalizers.h"

#include <unicode/brkiter.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utext.h>

#include <algorithm>
#include <memory>

namespace headlight {
namespace {

using FormGetter = const icu::Normalizer2*(UErrorCode& status);

// Loads ICU's data once. The static variable synchronizes the threads that use the data. ThreadSanitizer requires this,
// since it cannot observe ICU's lock.
template <FormGetter get>
const icu::Normalizer2& Loaded() {
  static const icu::Normalizer2* const form = [] {
    UErrorCode status = U_ZERO_ERROR;
    const icu::Normalizer2* const loaded = get(status);
    Ensure(U_SUCCESS(status), "Unicode's normal forms: {}", u_errorName(status));
    return loaded;
  }();
  return *form;
}

const icu::Normalizer2& FormOf(NormalForm form) {
  return form == NormalForm::nfc    ? Loaded<icu::Normalizer2::getNFCInstance>()
         : form == NormalForm::nfkc ? Loaded<icu::Normalizer2::getNFKCInstance>()
         : form == NormalForm::nfd  ? Loaded<icu::Normalizer2::getNFDInstance>()
                                    : Loaded<icu::Normalizer2::getNFKDInstance>();
}

bool IsAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

void CleanText(NormalizedText& text) {
  MapCharacters(text, [](char32_t character, const auto& put) {
    const bool breaks = character == U'\t' || character == U'\n' || character == U'\r';
    // Control characters are removed even if they are white space in Unicode.
    if (!breaks && (character == 0xFFFD || IsOther(character))) return;
    put(IsWhiteSpace(character) ? U' ' : character);
  });
}

// Returns true for characters in the ideograph blocks that BERT's code lists.
bool IsIdeograph(char32_t c) {
  return (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0x2F800 && c <= 0x2FA1F);
}

void SeparateIdeographs(NormalizedText& text) {
  MapCharacters(text, [](char32_t character, const auto& put) {
    const bool alone = IsIdeograph(character);
    if (alone) put(U' ');
    put(character);
    if (alone) put(U' ');
  });
}

struct Decomposed {
  char32_t character;
  std::uint8_t combining_class;
  bool first;  // true for the first character in the decomposition of an input character
};

// Returns the decomposed characters in canonical order: consecutive marks are sorted by combining class.
std::vector<Decomposed> Decompose(const std::string& text, bool compatible) {
  const icu::Normalizer2& form = FormOf(compatible ? NormalForm::nfkd : NormalForm::nfd);
  std::vector<Decomposed> characters;
  icu::UnicodeString several;
  ForEachCharacter(text, [&](char32_t character, std::size_t, std::size_t) {
    const auto code = static_cast<UChar32>(character);
    if (character < 0x80 || !form.getDecomposition(code, several)) {
      characters.push_back({character, u_getCombiningClass(code), true});
      return;
    }
    for (std::int32_t at = 0; at < several.length(); at = several.moveIndex32(at, 1)) {
      const UChar32 part = several.char32At(at);
      characters.push_back({static_cast<char32_t>(part), u_getCombiningClass(part), at == 0});
    }
  });
  for (auto begin = characters.begin(); begin != characters.end();) {
    if (begin->combining_class == 0) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, characters.end(), [](const Decomposed& c) { return c.combining_class == 0; });
    std::stable_sort(begin, end, [](const auto& a, const auto& b) { return a.combining_class < b.combining_class; });
    begin = end;
  }
  return characters;
}

// Applies canonical composition: composes each starter with the following marks, from the left.
void Compose(std::vector<Change>& changes, const std::vector<std::uint8_t>& classes) {
  const icu::Normalizer2& form = FormOf(NormalForm::nfd);
  std::vector<Change> composed;
  std::ptrdiff_t starter = -1;
  int last_class = -1;  // combining class of the last mark after the starter; -1: none
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (starter >= 0 && last_class < static_cast<int>(classes[i])) {
      const UChar32 both = form.composePair(static_cast<UChar32>(composed[starter].character),
                                            static_cast<UChar32>(changes[i].character));
      if (both >= 0) {
        composed[starter].character = static_cast<char32_t>(both);
        // The starter also replaces the input characters of the composed mark.
        if (changes[i].by <= 0) composed[starter].by += changes[i].by - 1;
        continue;
      }
    }
    if (classes[i] == 0) {
      starter = static_cast<std::ptrdiff_t>(composed.size());
      last_class = -1;
    } else {
      last_class = classes[i];
    }
    composed.push_back(changes[i]);
  }
  changes = std::move(composed);
}

bool IsNormalized(NormalForm form, const std::string& text) {
  UErrorCode status = U_ZERO_ERROR;
  const bool normalized = FormOf(form).isNormalizedUTF8(icu::StringPiece(text), status) != 0;
  Ensure(U_SUCCESS(status), "Unicode's normal forms: {}", u_errorName(status));
  return normalized;
}

// Returns true if every character is a separate grapheme cluster in any context.
bool StandAlone(std::string_view text) {
  bool alone = true;
  ForEachCharacter(text, [&](char32_t character, std::size_t, std::size_t) {
    const auto code = static_cast<UChar32>(character);
    if (character == U'\r') alone = false;  // forms one cluster with a line feed
    if (character >= 0x80) alone = alone && u_getIntPropertyValue(code, UCHAR_GRAPHEME_CLUSTER_BREAK) == U_GCB_OTHER;
  });
  return alone;
}

// Calls body(grapheme) for each grapheme cluster of the text.
template <typename Body>
void ForEachGrapheme(const std::string& text, const Body& body) {
  const std::string_view all = text;
  if (StandAlone(text)) {  // the usual case
    ForEachCharacter(text, [&](char32_t, std::size_t begin, std::size_t end) { body(all.substr(begin, end - begin)); });
    return;
  }
  UErrorCode status = U_ZERO_ERROR;
  UText bytes = UTEXT_INITIALIZER;
  utext_openUTF8(&bytes, text.data(), static_cast<std::int64_t>(text.size()), &status);
  const std::unique_ptr<icu::BreakIterator> graphemes(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), status));
  Ensure(U_SUCCESS(status), "grapheme clusters: {}", u_errorName(status));
  graphemes->setText(&bytes, status);
  std::int32_t begin = graphemes->first();
  for (std::int32_t end = graphemes->next(); end != icu::BreakIterator::DONE; end = graphemes->next()) {
    body(all.substr(begin, end - begin));
    begin = end;
  }
  utext_close(&bytes);
  Ensure(U_SUCCESS(status), "grapheme clusters: {}", u_errorName(status));
}

}  // namespace

void Lowercase(NormalizedText& text) {
  MapCharacters(text, [](char32_t character, const auto& put) {
    if (character == 0x130) {  // only capital I with dot above has a lower-case form of two characters
      put(U'i');
      return put(char32_t{0x307});
    }
    put(static_cast<char32_t>(u_tolower(static_cast<UChar32>(character))));
  });
}

void Normalize(NormalForm form, NormalizedText& text) {
  if (IsAscii(text.text)) return;
  const bool compatible = form == NormalForm::nfkd || form == NormalForm::nfkc;
  if (IsNormalized(form, text.text)) return;
  std::vector<Change> changes;
  std::vector<std::uint8_t> classes;
  for (const Decomposed& c : Decompose(text.text, compatible)) {
    changes.push_back({c.character, c.first ? 0 : 1});
    classes.push_back(c.combining_class);
  }
  if (form == NormalForm::nfc || form == NormalForm::nfkc) Compose(changes, classes);
  Apply(changes, text);
}

void StripLeft(NormalizedText& text) {
  std::size_t begin = text.text.size();
  ForEachCharacter(text.text, [&](char32_t character, std::size_t at, std::size_t) {
    if (!IsWhiteSpace(character)) begin = std::min(begin, at);
  });
  text.text.erase(0, begin);
  text.origins.erase(text.origins.begin(), text.origins.begin() + static_cast<std::ptrdiff_t>(begin));
}

void StripRight(NormalizedText& text) {
  std::size_t end = 0;
  ForEachCharacter(text.text, [&](char32_t character, std::size_t, std::size_t after) {
    if (!IsWhiteSpace(character)) end = after;
  });
  text.text.resize(end);
  text.origins.resize(end);
}

void StripAccents(NormalizedText& text) {
  MapCharacters(text, [](char32_t character, const auto& put) {
    if (!IsMark(character)) put(character);
  });
}

void Replace::operator()(NormalizedText& text) const {
  NormalizedText replaced = text.Fresh();
  std::size_t done = 0;
  const auto keep = [&](std::size_t end) {
    replaced.text.append(text.text, done, end - done);
    replaced.origins.insert(replaced.origins.end(), text.origins.begin() + static_cast<std::ptrdiff_t>(done),
                            text.origins.begin() + static_cast<std::ptrdiff_t>(end));
  };
  std::vector<TextSpan> matches = pattern.Matches(text.text);
  // Skips matches that are equal to their replacement, for example a space if white space is replaced with a space.
  const bool one = !content.empty() && content.size() == static_cast<std::size_t>(DecodeUtf8(content).bytes);
  if (one)
    std::erase_if(matches, [&](const TextSpan& match) {
      return std::string_view(text.text).substr(match.begin, match.end - match.begin) == content;
    });
  if (matches.empty()) return;
  for (const TextSpan match : matches) {
    const auto end = static_cast<std::size_t>(match.end);
    keep(static_cast<std::size_t>(match.begin));
    // The replacement has the origin of the last character that it replaces, or of the previous character.
    const TextSpan origin = end == 0 ? TextSpan{text.start, text.start} : text.origins[end - 1];
    ForEachCharacter(content,
                     [&](char32_t character, std::size_t, std::size_t) { replaced.Append(character, origin); });
    done = end;
  }
  keep(text.text.size());
  replaced.CheckLength(replaced.text.size());
  text = std::move(replaced);
}

void NormalizeForTranslation(NormalizedText& text) {
  MapCharacters(text, [](char32_t c, const auto& put) {
    const bool removed =
        (c >= 0x1 && c <= 0x8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    if (removed) return;
    const bool space = c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                       c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    put(space ? U' ' : c);
  });
}

void Prepend::operator()(NormalizedText& text) const {
  if (text.text.empty()) return;
  const TextSpan first = text.origins.front();
  text.CheckLength(text.text.size() + content.size());
  text.text.insert(0, content);
  text.origins.insert(text.origins.begin(), content.size(), first);
}

Precompiled::Precompiled(std::string charsmap, const std::string& name)
    : rules([&] {
        SentencePieceModel model;
        model.charsmap = std::move(charsmap);
        return TextNormalizer(model, name);
      }()) {
  for (std::size_t character = 0; character < keeps.size(); ++character) {
    const char byte = static_cast<char>(character);
    keeps[character] = byte != '\r' && !rules.ShortestReplacement({&byte, 1});
  }
}

void Precompiled::operator()(NormalizedText& text) const {
  const auto stays = [&](char byte) {
    return static_cast<unsigned char>(byte) < keeps.size() && keeps[static_cast<unsigned char>(byte)];
  };
  if (std::all_of(text.text.begin(), text.text.end(), stays)) return;
  std::vector<Change> changes;
  const auto put = [&](char32_t character, std::size_t, std::size_t) { changes.push_back({character, 0}); };
  // Output characters replace input characters one by one. Additional output is inserted after them. Additional input
  // is removed with the previous output character, even if that character belongs to another replacement.
  const auto replace = [&](std::string_view part) {
    const std::optional<std::string_view> written = rules.ShortestReplacement(part);
    if (!written) return false;
    ForEachCharacter(*written, put);
    const std::int64_t more = CountCharacters(*written) - CountCharacters(part);
    for (std::int64_t i = 0; i < more; ++i) changes[changes.size() - 1 - static_cast<std::size_t>(i)].by = 1;
    if (more < 0 && !changes.empty()) changes.back().by += static_cast<std::int32_t>(more);
    return true;
  };
  ForEachGrapheme(text.text, [&](std::string_view grapheme) {
    if (grapheme.size() == 1 && stays(grapheme[0])) {
      changes.push_back({static_cast<char32_t>(grapheme[0]), 0});
      return;
    }
    if (grapheme.size() < 6 && replace(grapheme)) return;
    ForEachCharacter(grapheme, [&](char32_t character, std::size_t begin, std::size_t end) {
      if (!replace(grapheme.substr(begin, end - begin))) changes.push_back({character, 0});
    });
  });
  Apply(changes, text);
}

void BertNormalizer::operator()(NormalizedText& text) const {
  if (clean_text) CleanText(text);
  if (handle_chinese_chars) SeparateIdeographs(text);
  if (strip_accents && !IsAscii(text.text)) {
    Normalize(NormalForm::nfd, text);
    MapCharacters(text, [](char32_t character, const auto& put) {
      if (!IsNonspacingMark(character)) put(character);
    });
  }
  if (lowercase) Lowercase(text);
}

}  // namespace headlight
