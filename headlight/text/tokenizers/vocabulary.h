// Learning the subword vocabulary of a translation model.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"

namespace headlight {

struct VocabularyOptions {
  SubwordAlgorithm algorithm = SubwordAlgorithm::bpe;
  std::int32_t size = 8000;  // tokens at most, `</s>`, `<unk>` and `<pad>` included
  bool exact = false;        // a text that allows fewer tokens is an Error
  // From a larger corpus this many lines are drawn uniformly, by `seed`; they are held in memory.
  std::int64_t most_lines = 2'000'000;
  std::uint64_t seed = 1;
};

// Trains with SentencePiece, after its nmt_nfkc normalization, so that every character of the text is a piece: `</s>`
// is token 0, `<unk>` 1, `<pad>` the last, as MarianMT has them. Calls next(line) until it returns false; for a
// vocabulary that two languages share, it hands over the lines of both. The same lines and options give the same
// vocabulary. Throws Error where the text has no words, and where `size` is too small for it, naming the least,
// or with `exact` too large, naming the most.
//
// Why not TrainTokenizer: a MarianMT folder holds SentencePiece models, whose nmt_nfkc rules (a compiled table) come
// from that library's trainer alone; and its order of merges, which differs from ours where pairs are equally frequent,
// decides the pieces and with them every figure that was measured. SentencePiece, in turn, trains neither BPE of bytes
// nor WordPiece.
HEADLIGHT_API MarianTokenizer TrainVocabulary(const std::function<bool(std::string_view& line)>& next,
                                              const VocabularyOptions& options);

}  // namespace headlight
