// Learning a tokenizer.json from text: ours, in the terms of the tokenizers library. A translation model's vocabulary
// is SentencePiece's; TrainVocabulary says why there are two trainers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

enum class TokenizerAlgorithm { bpe, wordpiece, unigram };

struct TokenizerTrainingOptions {
  TokenizerAlgorithm algorithm = TokenizerAlgorithm::bpe;
  bool byte_level = false;    // BPE of bytes, as GPT-2's: no text is unknown to it
  std::int32_t size = 30000;  // tokens at most, special ones among them
  bool split_digits = false;  // whether each digit is a token of its own, so that numbers can be reckoned with
  // The first tokens; where there are none, UsualSpecialTokens.
  std::vector<std::string> special = {};
  // Of distinct words more bytes than this are not held: the rarest go.
  std::size_t most_bytes = std::size_t{1} << 30;
};

// Of byte-level BPE <|endoftext|>, of other BPE and of unigram those of T5, of WordPiece BERT's.
HEADLIGHT_API std::vector<std::string> UsualSpecialTokens(const TokenizerTrainingOptions& options);

// What is told now and then: what is done, and how far it is (a total of 0: not known). It may throw to give up.
using TokenizerTrainingProgress = std::function<void(std::string_view what, std::int64_t done, std::int64_t total)>;

// The `tokenizer.json` of a tokenizer that is learned from the lines of text that next(line) gives, until it returns
// false; PipelineTokenizer and the tokenizers library read it. Byte-level BPE cuts words as GPT-2, WordPiece as BERT
// does, cased; the others at spaces, as SentencePiece, after Unicode's NFKC. Where [CLS] and [SEP] are special they are
// put around texts, of the others </s> behind them. The same lines give the same file. Throws Error for text that is
// not UTF-8 or has no word, and for what is missing among the special tokens: a token for what is unknown, <unk> or
// [UNK], which only byte-level BPE goes without.
HEADLIGHT_API std::string TrainTokenizer(const std::function<bool(std::string_view& line)>& next,
                                         const TokenizerTrainingOptions& options,
                                         const TokenizerTrainingProgress& progress = nullptr);

}  // namespace headlight
