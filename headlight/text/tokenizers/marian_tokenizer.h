// The tokenizer of MarianMT: two SentencePiece models over one vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

/// The tokenizer of a MarianMT folder: SentencePiece models, which divide text into pieces, and a vocabulary, which
/// assigns an id to each piece. Marian's vocabulary has `</s>`, `<unk>` and `<pad>`, but no `<s>`: its decoder begins
/// with `<pad>` instead of the paper's `<s>`. A text is never encoded as `</s>` or `<pad>`, even if it contains these
/// strings.
class HEADLIGHT_API MarianTokenizer : public Tokenizer {
 public:
  /// Uses one model for both sides. The ids are the indices of its pieces. The model must have `</s>` and `<pad>` as
  /// control pieces, as in the models of TrainVocabulary.
  explicit MarianTokenizer(SentencePieceModel model);

  /// Reads a folder's `source.spm`, `target.spm` and `vocab.json`. Throws Error naming the file and the problem if a
  /// file is missing, invalid or not supported.
  static MarianTokenizer Load(const std::string& folder);

  /// Writes the files that Hugging Face's MarianTokenizer loads, for MarianMT and Pegasus models: `source.spm`,
  /// `target.spm`, `vocab.json`, `tokenizer_config.json` and `special_tokens_map.json`. If both sides share a model,
  /// also writes `tokenizer.json` for the tokenizers library. `longest` is the model's maximum number of tokens.
  void Save(const std::string& folder, std::int64_t longest = 512) const;

  /// Encodes a text. A token's span includes the preceding space. The text of a multilingual model may begin with the
  /// target language, as in ">>fra<< Hello".
  std::vector<std::int32_t> Encode(std::string_view text, Side side = Side::source,
                                   std::vector<TextSpan>* spans = nullptr) const override;

  /// Encodes with BPE-dropout (Provilkov et al., "BPE-Dropout", 2020): each merge is skipped with the probability
  /// `dropout`, so that the model is trained on several segmentations of a word. Only for BPE.
  std::vector<std::int32_t> EncodeSampled(std::string_view text, Random& random, double dropout,
                                          Side side = Side::source) const;

  std::string Decode(std::span<const std::int32_t> ids)
      const override;  ///< `<unk>` becomes the text that the model defines, usually U+2047
  const std::string& Piece(std::int32_t id) const override;  ///< a space is written as U+2581
  std::optional<std::int32_t> FindSpecial(std::string_view) const override { return {}; }
  std::int32_t size() const override;
  Json::Object Description() const override;  ///< includes the algorithms of both sides

  std::int32_t eos() const;    ///< ends a sentence
  std::int32_t unk() const;    ///< represents characters without a piece
  std::int32_t pad() const;    ///< padding in other programs; the first token of a target sentence
  std::uint64_t hash() const;  ///< hash of all pieces in order
  SubwordAlgorithm algorithm(Side side = Side::source) const;

 private:
  struct State;
  explicit MarianTokenizer(std::shared_ptr<const State> state);
  std::vector<std::int32_t> Encode(std::string_view text, Side side, std::vector<TextSpan>* spans, Random* random,
                                   double dropout) const;
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
