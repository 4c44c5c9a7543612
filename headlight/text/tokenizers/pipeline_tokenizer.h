// The tokenizer described by a `tokenizer.json`, used by all families except MarianMT.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

/// The tokens of a text or a pair of texts. Each vector has one entry per token.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;  ///< for models with token types: 1 in a second text, otherwise mostly 0
  std::vector<std::int32_t> texts;     ///< index of the text, 0 or 1; -1 for added tokens such as [CLS]
  std::vector<TextSpan> spans;         ///< bytes [begin, end) of the text; empty for added tokens
  std::vector<std::int32_t> words;     ///< index of the pre-tokenizer's word; -1 for added tokens
};

struct EncodeOptions {
  bool add_special = true;  ///< if true, adds the special tokens that the model expects, such as [CLS]
  /// If true, parses special tokens in the text, such as [MASK]; otherwise they are treated as text.
  bool read_special = true;
};

/// The end at which a long text is truncated: "right" or "left" in tokenizer_config.json's `truncation_side`.
enum class CutAt { end, beginning };

struct PipelineState;

/// Implements a folder's `tokenizer.json`, with the results of the tokenizers library (0.23). Matches added tokens,
/// normalizes the other text, divides it into words, segments the words into pieces, and adds special tokens. Two
/// settings are ignored: `truncation`, which would silently truncate texts, and `padding`, which packed rows do not
/// need.
class HEADLIGHT_API PipelineTokenizer : public Tokenizer {
 public:
  /// Loads a folder's `tokenizer.json`. If there is none, loads the older formats: `vocab.txt`, or `vocab.json` and
  /// `merges.txt`, or a SentencePiece model. The model's name is `spiece.model` (T5), `sentencepiece.bpe.model`
  /// (XLM-RoBERTa, mBART) or `spm.model` (DeBERTa-v2). SigLIP's spiece.model is used even if there is a tokenizer.json.
  /// Throws Error naming the file and the problem if a file is missing, invalid or not supported.
  static PipelineTokenizer Load(const std::string& folder);
  /// Parses the content of a tokenizer.json. `name` is used in error messages.
  static PipelineTokenizer Parse(std::string_view json, const std::string& name);

  /// Encode a text or a pair of texts. Throws Error naming the byte if a text is not UTF-8.
  Encoding Encode(std::string_view text, const EncodeOptions& options = {}) const;
  Encoding EncodePair(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const;

  /// Encodes without special tokens. Special tokens in the text are treated as text. The side is ignored.
  std::vector<std::int32_t> Encode(std::string_view text, Side, std::vector<TextSpan>* spans) const override;

  /// Decodes ids to text. Bytes of incomplete characters become U+FFFD.
  std::string Decode(std::span<const std::int32_t> ids) const override { return Decode(ids, true); }
  std::string Decode(std::span<const std::int32_t> ids, bool skip_special) const;

  const std::string& Piece(std::int32_t id) const override;  ///< empty for an id without a token
  std::vector<std::string> Labels(std::span<const std::int32_t> ids) const override;
  std::optional<std::int32_t> Find(std::string_view piece) const;
  std::optional<std::int32_t> FindSpecial(std::string_view name) const override;
  bool IsSpecial(std::int32_t id) const;
  CutAt cut_at() const;
  /// Returns true if a token of the text continues the word of the previous token, as in Transformers' pipelines. Such
  /// a token has the prefix of pieces inside words, such as "##". If the model has no such prefix, the token must not
  /// be preceded by a space. The unknown token never continues a word.
  bool ContinuesWord(std::string_view text, std::int32_t id, TextSpan span) const;
  std::int32_t size() const override;
  /// Returns the number of token types: the largest assigned type + 1.
  std::int32_t types() const;

 private:
  explicit PipelineTokenizer(std::shared_ptr<const PipelineState> state);
  std::shared_ptr<const PipelineState> state_;
};

/// Converts byte spans to character spans (Unicode code points). Spans must begin and end at character boundaries.
HEADLIGHT_API std::vector<TextSpan> CharacterSpans(std::string_view text, std::span<const TextSpan> spans);

}  // namespace headlight
