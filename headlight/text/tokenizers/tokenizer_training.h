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
  bool split_digits = false;  // makes each digit a token, as models of arithmetic need
  // Normalizers of text. NFKC is that of every tokenizer but byte-level BPE and WordPiece.
  bool lowercase = false, nfkc = false, strip_accents = false;
  // The first tokens; if empty, UsualSpecialTokens.
  std::vector<std::string> special = {};
  // The most memory for distinct words; beyond it, the rarest are dropped.
  std::size_t most_bytes = std::size_t{1} << 30;
};

// <|endoftext|> for byte-level BPE, those of T5 for other BPE and unigram, those of BERT for WordPiece.
HEADLIGHT_API std::vector<std::string> UsualSpecialTokens(const TokenizerTrainingOptions& options);

// Called from time to time with the current work and its progress (total 0: not known). It may throw to cancel.
using TokenizerTrainingProgress = std::function<void(std::string_view what, std::int64_t done, std::int64_t total)>;

// Trains a tokenizer on the lines that next(line) gives until it returns false, and returns its `tokenizer.json`, which
// PipelineTokenizer and the tokenizers library read. Byte-level BPE splits words as GPT-2, WordPiece as cased BERT; the
// others at spaces, as SentencePiece, after NFKC. Special tokens [CLS] and [SEP] are put around texts, or else </s>
// after them. The same lines give the same file. Throws Error for text that is not UTF-8 or has no word, and where the
// special tokens lack an unknown token, <unk> or [UNK], which only byte-level BPE does without.
HEADLIGHT_API std::string TrainTokenizer(const std::function<bool(std::string_view& line)>& next,
                                         const TokenizerTrainingOptions& options,
                                         const TokenizerTrainingProgress& progress = nullptr);

}  // namespace headlight
