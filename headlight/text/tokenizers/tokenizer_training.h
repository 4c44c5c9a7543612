// Trains a tokenizer.json on text with headlight's trainers. Translation models use SentencePiece's trainer instead
// (see TrainVocabulary).
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
  bool byte_level = false;    ///< if true, byte-level BPE as in GPT-2, in which no text is unknown
  std::int32_t size = 30000;  ///< maximum number of tokens, including special ones
  bool split_digits = false;  ///< if true, each digit is a token, for models that do arithmetic
  /// The normalizers to apply. All tokenizers except byte-level BPE and WordPiece always use NFKC.
  bool lowercase = false, nfkc = false, strip_accents = false;
  /// The first tokens of the vocabulary. If empty, UsualSpecialTokens is used.
  std::vector<std::string> special = {};
  /// Memory limit for distinct words. If it is exceeded, the rarest words are dropped.
  std::size_t most_bytes = std::size_t{1} << 30;
};

/// Returns <|endoftext|> for byte-level BPE, T5's special tokens for other BPE and unigram, and BERT's for WordPiece.
HEADLIGHT_API std::vector<std::string> UsualSpecialTokens(const TokenizerTrainingOptions& options);

/// A callback that is called regularly with the current step and its progress (total 0: unknown). It may throw to
/// cancel.
using TokenizerTrainingProgress = std::function<void(std::string_view what, std::int64_t done, std::int64_t total)>;

/// Trains a tokenizer on the lines that next(line) provides until it returns false. Returns the `tokenizer.json`, which
/// PipelineTokenizer and the tokenizers library can load. Words are split as in GPT-2 for byte-level BPE, as in cased
/// BERT for WordPiece, and otherwise at spaces after NFKC, as in SentencePiece. Texts are surrounded by [CLS] and [SEP]
/// if these are special tokens, otherwise followed by </s>. The result is deterministic. Throws Error for text that is
/// not UTF-8 or has no word. Except for byte-level BPE, also throws Error if the special tokens contain neither <unk>
/// nor [UNK].
HEADLIGHT_API std::string TrainTokenizer(const std::function<bool(std::string_view& line)>& next,
                                         const TokenizerTrainingOptions& options,
                                         const TokenizerTrainingProgress& progress = nullptr);

}  // namespace headlight
