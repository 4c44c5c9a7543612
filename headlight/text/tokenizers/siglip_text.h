// The steps of Transformers' SiglipTokenizer (5.24) around its SentencePiece model.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/normalized_text.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"
#include "headlight/text/tokenizers/sentencepiece_normalizer.h"
#include "headlight/text/tokenizers/sentencepiece_segmenter.h"

namespace headlight {

/// As Python's str.lower: a sigma at the end of a word becomes U+03C2, other characters have no context.
void LowercaseInContext(NormalizedText& text);

/// Of a stretch between added tokens: in lower case, without ASCII punctuation and U+2581, with single spaces between
/// its words. The first stretch of a text begins with U+2581, also if it has no words.
void CanonicalizeForSiglip(bool lowercase, bool first, NormalizedText& text);

/// SentencePiece's normal form of `before` and such a stretch.
class SiglipText {
 public:
  SiglipText(const SentencePieceModel& model, const std::string& name, bool lowercase, std::string before);
  void operator()(NormalizedText& text, bool first) const;

 private:
  TextNormalizer normalizer_;
  bool lowercase_;
  std::string before_;  // the unknown token's text
};

/// Appends a word's segments.
using WordModel = std::function<void(std::string_view word, std::vector<Segment>&)>;

/// A model that leaves out so many segments at the beginning of each word as SiglipText's `before` has alone. So an
/// unknown character that is fused with an unknown end of `before` is left out, too.
WordModel LeaveOut(std::ptrdiff_t segments, WordModel model);

}  // namespace headlight
