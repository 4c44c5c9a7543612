// Trains the subword vocabulary of a translation model.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"

namespace headlight {

struct VocabularyOptions {
  SubwordAlgorithm algorithm = SubwordAlgorithm::bpe;
  std::int32_t size = 8000;  ///< maximum number of tokens, including `</s>`, `<unk>` and `<pad>`
  bool exact = false;        ///< if true, throws Error if the text allows fewer tokens
  /// The maximum number of lines in memory. From a larger corpus, this many lines are sampled uniformly with `seed`.
  std::int64_t most_lines = 2'000'000;
  std::uint64_t seed = 1;
};

/// Trains a vocabulary with SentencePiece after its nmt_nfkc normalization. Every character of the text becomes a
/// piece. As in MarianMT, `</s>` is token 0, `<unk>` token 1, and `<pad>` the last token. Calls next(line) until it
/// returns false. For a joint vocabulary of two languages, pass the lines of both. The result is deterministic. Throws
/// Error if the text has no words. Also throws Error naming the minimum if `size` is too small for the text. If `exact`
/// is true, throws Error naming the maximum if `size` is too large.
///
/// TrainTokenizer cannot be used instead, since a MarianMT folder has SentencePiece models. The nmt_nfkc rules of such
/// models (a compiled table) are only available from SentencePiece's trainer. SentencePiece also merges equally
/// frequent pairs in a different order, which would change the pieces. Conversely, SentencePiece trains neither
/// byte-level BPE nor WordPiece.
HEADLIGHT_API MarianTokenizer TrainVocabulary(const std::function<bool(std::string_view& line)>& next,
                                              const VocabularyOptions& options);

}  // namespace headlight
