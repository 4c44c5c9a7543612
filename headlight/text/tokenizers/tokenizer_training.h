// Trains a tokenizer.json on text, with headlight's own trainers. The vocabulary of a translation model is trained by
// SentencePiece instead; TrainVocabulary explains why there are two trainers.
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
  bool byte_level = false;    // BPE of bytes, as in GPT-2: no text is unknown
  std::int32_t size = 30000;  // maximum number of tokens, including special ones
  bool split_digits = false;  // make each digit a token, as models of arithmetic need
  /// Normalizers. All tokenizers except byte-level BPE and WordPiece always use NFKC.
  bool lowercase = false, nfkc = false, strip_accents = false;
  /// The first tokens; if empty, UsualSpecialTokens.
  std::vector<std::string> special = {};
  /// Memory limit for distinct words; beyond it, the rarest ones are dropped.
  std::size_t most_bytes = std::size_t{1} << 30;
};

/// <|endoftext|> for byte-level BPE, those of T5 for other BPE and unigram, those of BERT for WordPiece.
HEADLIGHT_API std::vector<std::string> UsualSpecialTokens(const TokenizerTrainingOptions& options);

/// Called regularly with the current work and its progress (total 0: unknown). It may throw to cancel.
using TokenizerTrainingProgress = std::function<void(std::string_view what, std::int64_t done, std::int64_t total)>;

/// Trains a tokenizer on the lines that next(line) gives until it returns false. Returns its `tokenizer.json`, which
/// PipelineTokenizer and the tokenizers library read. Words are split as in GPT-2 for byte-level BPE, as in cased BERT
/// for WordPiece, and otherwise at spaces after NFKC, as in SentencePiece. Texts are surrounded by [CLS] and [SEP] if
/// these are special tokens, otherwise followed by </s>. The result is deterministic. Throws Error for text that is not
/// UTF-8 or has no word, and if the special tokens have no unknown token, <unk> or [UNK], which all but byte-level BPE
/// need.
HEADLIGHT_API std::string TrainTokenizer(const std::function<bool(std::string_view& line)>& next,
                                         const TokenizerTrainingOptions& options,
                                         const TokenizerTrainingProgress& progress = nullptr);

}  // namespace headlight
