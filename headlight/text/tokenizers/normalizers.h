// The normalizers of a `tokenizer.json`, with the results of the tokenizers library.
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

void Lowercase(NormalizedText& text);     // by character: without the final form of sigma
void StripLeft(NormalizedText& text);     // white space at the beginning
void StripRight(NormalizedText& text);    // white space at the end
void StripAccents(NormalizedText& text);  // removes marks, such as decomposed accents

enum class NormalForm { nfd, nfkd, nfc, nfkc };
void Normalize(NormalForm form, NormalizedText& text);  // Unicode's

// Replaces every match by `content`.
struct Replace {
  // The kind of pattern: a text, or one of the regular expressions in published files.
  enum class Kind {
    text,             // the text itself
    spaces,           // " {2,}"
    white_space,      // "\s{2,}|[\n\r\t]"
    all_white_space,  // "\s+"
    punctuation,      // a character of ASCII's punctuation
    not_ascii,        // "[^\x00-\x7f]"
  };
  std::string pattern, content;
  Kind kind = Kind::text;
  void operator()(NormalizedText& text) const;
};
std::optional<Replace::Kind> KindOfRegularExpression(std::string_view pattern);

// Puts `content`, with the origin of the first character, before a non-empty text.
struct Prepend {
  std::string content;
  void operator()(NormalizedText& text) const;
};

// SentencePiece's compiled rules as the tokenizers library applies them, grapheme by grapheme: a grapheme of less than
// six bytes is replaced by the result of the shortest rule that matches its beginning; else its characters one by one.
struct Precompiled {
  explicit Precompiled(std::string charsmap, const std::string& name);
  void operator()(NormalizedText& text) const;
  TextNormalizer rules;
  std::array<bool, 128> keeps;  // by ASCII character; true: no rule begins with it
};

// BERT's (Devlin et al., "BERT", 2019).
struct BertNormalizer {
  bool clean_text = true;            // removes controls and U+FFFD, makes white space a space
  bool handle_chinese_chars = true;  // puts spaces around ideographs
  bool strip_accents = true;         // decomposes, and removes nonspacing marks
  bool lowercase = true;

  void operator()(NormalizedText& text) const;
};

}  // namespace headlight
