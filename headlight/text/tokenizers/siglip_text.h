// The steps of Transformers' SiglipTokenizer (5.24) before and after its SentencePiece model.
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

/// Lowercases like Python's str.lower: a sigma at the end of a word becomes U+03C2. Other characters do not depend on
/// context.
void LowercaseInContext(NormalizedText& text);

/// Canonicalizes the text between two added tokens: lower case, no ASCII punctuation or U+2581, single spaces between
/// words. The first part of a text begins with U+2581, even if it has no words.
void CanonicalizeForSiglip(bool lowercase, bool first, NormalizedText& text);

/// Applies SentencePiece's normalization to `before` followed by a canonicalized part of a text.
class SiglipText {
 public:
  SiglipText(const SentencePieceModel& model, const std::string& name, bool lowercase, std::string before);
  void operator()(NormalizedText& text, bool first) const;

 private:
  TextNormalizer normalizer_;
  bool lowercase_;
  std::string before_;  // the text of the unknown token
};

/// A function that appends the segments of a word.
using WordModel = std::function<void(std::string_view word, std::vector<Segment>&)>;

/// Wraps a model to drop the first `segments` segments of each word, which are the segments of SiglipText's `before`.
/// An unknown character that is merged with an unknown end of `before` is therefore dropped too.
WordModel WithoutSegments(std::ptrdiff_t segments, WordModel model);

}  // namespace headlight
