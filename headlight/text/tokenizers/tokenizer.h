// From text to the numbers a translation model reads, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/text/text_span.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"

namespace headlight {

// Which language of the pair: the two may have models of their own, over one vocabulary.
enum class Side { source, target };

// The tokenizer of a MarianMT folder: SentencePiece models that cut text into pieces, and a vocabulary that numbers
// them. Marian's vocabulary has `</s>`, `<unk>` and `<pad>`, and no `<s>`: where the paper's decoder begins with `<s>`,
// Marian's begins with `<pad>`. What stands in a text is text: it never becomes `</s>` or `<pad>`, however it is spelt.
// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API Tokenizer {
 public:
  // One model for both sides, whose pieces are numbered as they stand. It must have `</s>` and `<pad>` among its
  // control pieces, as TrainVocabulary's have.
  explicit Tokenizer(SentencePieceModel model);

  // Reads a folder's `source.spm`, `target.spm` and `vocab.json` (MarianMT's own files, from here or elsewhere), or
  // else a `tokenizer.json` as Save writes it. Throws Error naming the file and what is missing, broken or not
  // supported.
  static Tokenizer Load(const std::string& folder);

  // Writes into the folder what Hugging Face's MarianTokenizer reads: `source.spm`, `target.spm`, `vocab.json`,
  // `tokenizer_config.json` and `special_tokens_map.json`; they serve MarianMT and Pegasus models alike. Where both
  // sides share one model it also writes `tokenizer.json` for the tokenizers library. `longest` is the most tokens that
  // the model reads.
  void Save(const std::string& folder, std::int64_t longest = 512) const;

  // The tokens of a text, without `</s>`; none for an empty text or one of spaces. `spans`, where asked for, gets the
  // bytes of `text` that each token stands for, the space before a word with the word. A multilingual model's text may
  // begin with the language to translate into, as in ">>fra<< Hello". Throws Error naming the byte where `text` is not
  // UTF-8.
  std::vector<std::int32_t> Encode(std::string_view text, Side side = Side::source,
                                   std::vector<TextSpan>* spans = nullptr) const;

  // BPE-dropout (Provilkov et al., "BPE-Dropout", 2020): each merge is left out with the probability `dropout`, so that
  // training meets a word in many spellings. For BPE only.
  std::vector<std::int32_t> EncodeSampled(std::string_view text, Random& random, double dropout,
                                          Side side = Side::source) const;

  // The text of tokens, without special ones; `<unk>` is written as the model says, usually U+2047.
  std::string Decode(std::span<const std::int32_t> tokens) const;

  // A token as the vocabulary spells it: a space is U+2581.
  const std::string& Piece(std::int32_t token) const;

  std::int32_t size() const;   // tokens in the vocabulary, the special ones included
  std::int32_t eos() const;    // ends a sentence
  std::int32_t unk() const;    // stands for what no piece has
  std::int32_t pad() const;    // fills batches elsewhere, and begins a target sentence
  std::uint64_t hash() const;  // of all pieces in their order
  SubwordAlgorithm algorithm(Side side = Side::source) const;

 private:
  struct State;
  explicit Tokenizer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::vector<std::int32_t> Encode(std::string_view text, Side side, std::vector<TextSpan>* spans, Random* random,
                                   double dropout) const;
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
