// The tokenizer that a `tokenizer.json` describes: the kind of all families but MarianMT.
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

// A text, or a pair of texts, as tokens: one entry per token in each vector.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;  // of models with token types, mostly 0, and 1 in a second text
  std::vector<std::int32_t> texts;     // 0 or 1: the text that the token is in; -1: it was added, such as [CLS]
  std::vector<TextSpan> spans;         // the bytes of that text that it stands for; none for an added one
  std::vector<std::int32_t> words;     // the number of the pre-tokenizer's word that it is of; -1 for an added one
};

struct EncodeOptions {
  bool add_special = true;   // as the model expects them, such as [CLS] in front
  bool read_special = true;  // a special token that stands in the text, such as [MASK], is one; else it is text
};

/// Where a text that is too long is cut: `truncation_side` "right" or "left" of tokenizer_config.json.
enum class CutAt { end, beginning };

struct PipelineState;

// A folder's `tokenizer.json`, with the results of the tokenizers library (0.23): added tokens are matched, the
// rest is normalized and cut into words, these into the pieces of a vocabulary, and special tokens are put around them.
// Two of its settings are left to the caller: `truncation` would cut texts in silence, and rows need no `padding`.
class HEADLIGHT_API PipelineTokenizer : public Tokenizer {
 public:
  // Reads a folder's `tokenizer.json` or, without it, the older `vocab.txt`, or `vocab.json` and `merges.txt`, or the
  // SentencePiece model `spiece.model` (T5), `sentencepiece.bpe.model` (XLM-RoBERTa, mBART) or `spm.model`
  // (DeBERTa-v2); SigLIP's spiece.model even if there is a tokenizer.json. Throws Error naming the file and what is
  // missing, broken or not supported.
  static PipelineTokenizer Load(const std::string& folder);
  // The content of such a file; `name` is for errors.
  static PipelineTokenizer Parse(std::string_view json, const std::string& name);

  // Throws Error naming the byte where a text is not UTF-8.
  Encoding Encode(std::string_view text, const EncodeOptions& options = {}) const;
  Encoding EncodePair(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const;

  // Special tokens in the text are not read; both sides are the same.
  std::vector<std::int32_t> Encode(std::string_view text, Side, std::vector<TextSpan>* spans) const override;

  // Bytes that are part of a character become U+FFFD.
  std::string Decode(std::span<const std::int32_t> ids) const override { return Decode(ids, true); }
  std::string Decode(std::span<const std::int32_t> ids, bool skip_special) const;

  const std::string& Piece(std::int32_t id) const override;  // empty for an id that no token has, too
  std::vector<std::string> Labels(std::span<const std::int32_t> ids) const override;
  std::optional<std::int32_t> Find(std::string_view piece) const;
  std::optional<std::int32_t> FindSpecial(std::string_view name) const override;
  bool IsSpecial(std::int32_t id) const;
  CutAt cut_at() const;
  /// Whether a token of the text continues the word of the one before it, as pipelines of Transformers decide it: it
  /// has the prefix of pieces inside words, such as "##", or where the model has none, no space before it. The unknown
  /// token does not.
  bool ContinuesWord(std::string_view text, std::int32_t id, TextSpan span) const;
  std::int32_t size() const override;
  /// One more than the largest type that it gives tokens.
  std::int32_t types() const;

 private:
  explicit PipelineTokenizer(std::shared_ptr<const PipelineState> state);
  std::shared_ptr<const PipelineState> state_;
};

// Spans of characters (Unicode code points) instead of bytes. The spans' ends are ends of characters.
HEADLIGHT_API std::vector<TextSpan> CharacterSpans(std::string_view text, std::span<const TextSpan> spans);

}  // namespace headlight
