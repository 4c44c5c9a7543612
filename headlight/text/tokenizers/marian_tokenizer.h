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

// The tokenizer of a MarianMT folder: SentencePiece models that cut text into pieces, and a vocabulary that numbers
// them. Marian's vocabulary has `</s>`, `<unk>` and `<pad>`, and no `<s>`: where the paper's decoder begins with `<s>`,
// Marian's begins with `<pad>`. Text never becomes `</s>` or `<pad>`, however it is spelt.
class HEADLIGHT_API MarianTokenizer : public Tokenizer {
 public:
  // One model for both sides, whose pieces are numbered as they stand. It must have `</s>` and `<pad>` among its
  // control pieces, as TrainVocabulary's have.
  explicit MarianTokenizer(SentencePieceModel model);

  // Reads a folder's `source.spm`, `target.spm` and `vocab.json`. Throws Error naming the file and what is missing,
  // broken or not supported.
  static MarianTokenizer Load(const std::string& folder);

  // Writes into the folder what Hugging Face's MarianTokenizer reads: `source.spm`, `target.spm`, `vocab.json`,
  // `tokenizer_config.json` and `special_tokens_map.json`; they serve MarianMT and Pegasus models alike. Where both
  // sides share one model it also writes `tokenizer.json` for the tokenizers library. `longest` is the most tokens that
  // the model reads.
  void Save(const std::string& folder, std::int64_t longest = 512) const;

  // A word's span has the space before it. A multilingual model's text may begin with the language to translate into,
  // as in ">>fra<< Hello".
  std::vector<std::int32_t> Encode(std::string_view text, Side side = Side::source,
                                   std::vector<TextSpan>* spans = nullptr) const override;

  // BPE-dropout (Provilkov et al., "BPE-Dropout", 2020): each merge is left out with the probability `dropout`, so that
  // training meets a word in many spellings. For BPE only.
  std::vector<std::int32_t> EncodeSampled(std::string_view text, Random& random, double dropout,
                                          Side side = Side::source) const;

  std::string Decode(std::span<const std::int32_t> ids) const override;  // `<unk>` as the model says, usually U+2047
  const std::string& Piece(std::int32_t id) const override;              // a space is U+2581
  std::optional<std::int32_t> FindSpecial(std::string_view) const override { return {}; }
  std::int32_t size() const override;
  Json::Object Description() const override;  // with the algorithms of both sides

  std::int32_t eos() const;    // ends a sentence
  std::int32_t unk() const;    // stands for characters that no piece has
  std::int32_t pad() const;    // padding in other programs; begins a target sentence
  std::uint64_t hash() const;  // of all pieces in their order
  SubwordAlgorithm algorithm(Side side = Side::source) const;

 private:
  struct State;
  explicit MarianTokenizer(std::shared_ptr<const State> state);
  std::vector<std::int32_t> Encode(std::string_view text, Side side, std::vector<TextSpan>* spans, Random* random,
                                   double dropout) const;
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
