// The normalizers of a `tokenizer.json`, with the results of the tokenizers library.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "headlight/text/tokenizers/normalized_text.h"
#include "headlight/text/tokenizers/sentencepiece_normalizer.h"
#include "headlight/text/tokenizers/text_pattern.h"

namespace headlight {

using Normalizer = std::function<void(NormalizedText&)>;

void Lowercase(NormalizedText& text);     ///< converts each character separately, without the final form of sigma
void StripLeft(NormalizedText& text);     ///< removes white space at the beginning
void StripRight(NormalizedText& text);    ///< removes white space at the end
void StripAccents(NormalizedText& text);  ///< removes marks, such as decomposed accents

enum class NormalForm { nfd, nfkd, nfc, nfkc };
void Normalize(NormalForm form, NormalizedText& text);  ///< converts to a Unicode normal form

/// Replaces every match with `content`.
struct Replace {
  TextPattern pattern;
  std::string content;
  void operator()(NormalizedText& text) const;
};

/// Applies SentencePiece's rules for translation ("nmt") without their normal form: removes control characters, and
/// replaces other invisible characters with spaces.
void NormalizeForTranslation(NormalizedText& text);

/// Inserts `content`, with the origin of the first character, before a non-empty text.
struct Prepend {
  std::string content;
  void operator()(NormalizedText& text) const;
};

/// Applies SentencePiece's compiled rules per grapheme, as in the tokenizers library. A grapheme of fewer than six
/// bytes is replaced by the result of the shortest rule that matches its beginning. Otherwise its characters are
/// replaced separately.
struct Precompiled {
  explicit Precompiled(std::string charsmap, const std::string& name);
  void operator()(NormalizedText& text) const;
  TextNormalizer rules;
  std::array<bool, 128> keeps;  ///< true for each ASCII character with which no rule begins
};

/// BERT's normalizer (Devlin et al., "BERT", 2019).
struct BertNormalizer {
  bool clean_text = true;  ///< if true, removes control characters and U+FFFD, and replaces white space with spaces
  bool handle_chinese_chars = true;  ///< if true, inserts spaces around ideographs
  bool strip_accents = true;         ///< if true, decomposes characters, and removes nonspacing marks
  bool lowercase = true;

  void operator()(NormalizedText& text) const;
};

}  // namespace headlight
