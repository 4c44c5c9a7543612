// What tokenizers do to a text before they cut it, step by step, as the tokenizers library does.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "headlight/text/tokenizers/normalized_text.h"
#include "headlight/text/tokenizers/sentencepiece_normalizer.h"

namespace headlight {

using Normalizer = std::function<void(NormalizedText&)>;

void Lowercase(NormalizedText& text);     // a character at a time: a final sigma is a sigma
void StripLeft(NormalizedText& text);     // white space at the beginning
void StripRight(NormalizedText& text);    // white space at the end
void StripAccents(NormalizedText& text);  // leaves out marks: an accent, where it has been decomposed

enum class NormalForm { nfd, nfkd, nfc, nfkc };
void Normalize(NormalForm form, NormalizedText& text);  // Unicode's

// Writes `content` for every match.
struct Replace {
  // What is looked for: a text, or one of the two regular expressions that are published.
  enum class Kind { text, spaces, white_space };  // the text itself; " {2,}"; "\s{2,}|[\n\r\t]"
  std::string pattern, content;
  Kind kind = Kind::text;
  void operator()(NormalizedText& text) const;
};
std::optional<Replace::Kind> KindOfRegularExpression(std::string_view pattern);

// Puts `content` before a text that is not empty; it stands for the text's first character.
struct Prepend {
  std::string content;
  void operator()(NormalizedText& text) const;
};

// SentencePiece's compiled rules, a grapheme at a time, as the tokenizers library follows them: of the rules that begin
// a grapheme of less than six bytes the shortest replaces all of it; else each character's own.
struct Precompiled {
  explicit Precompiled(std::string charsmap, const std::string& name);
  void operator()(NormalizedText& text) const;
  TextNormalizer rules;
  std::array<bool, 128> keeps;  // of a character of ASCII, whether no rule begins with it
};

// BERT's (Devlin et al., "BERT", 2019).
struct BertNormalizer {
  bool clean_text = true;            // without controls and U+FFFD, every white space a space
  bool handle_chinese_chars = true;  // ideographs between spaces
  bool strip_accents = true;         // decomposed, without nonspacing marks
  bool lowercase = true;

  void operator()(NormalizedText& text) const;
};

}  // namespace headlight
