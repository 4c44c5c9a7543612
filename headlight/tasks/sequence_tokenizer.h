// The tokenizer of a model that reads one text and writes another: MarianMT's two SentencePiece models, or whatever a
// `tokenizer.json` describes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/tokenizer.h"
#include "headlight/text/tokenizers/tokenizer_pipeline.h"

namespace headlight {

// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API SequenceTokenizer {
 public:
  SequenceTokenizer(Tokenizer marian);
  explicit SequenceTokenizer(TokenizerPipeline pipeline);

  // MarianMT's where the folder has a `source.spm`, else a TokenizerPipeline's. Throws Error naming the file and what
  // is missing, broken or not supported.
  static SequenceTokenizer Load(const std::string& folder);

  // The tokens of a text, and none around them; none for a text without words. What spells a special token is text.
  // `spans`, where asked for, gets the bytes of `text` that each token stands for.
  std::vector<std::int32_t> Encode(std::string_view text, Side side = Side::source,
                                   std::vector<TextSpan>* spans = nullptr) const;

  // What stands before and after a source's tokens: T5's end; BART's `<s>` and `</s>`; mBART's language besides.
  const std::vector<std::int32_t>& before() const { return before_; }
  const std::vector<std::int32_t>& after() const { return after_; }

  // The text of tokens, without special ones, and a token as the vocabulary spells it. T5's models have more words than
  // their tokenizers; those are nothing.
  std::string Decode(std::span<const std::int32_t> tokens) const;
  const std::string& Piece(std::int32_t token) const;
  std::optional<std::int32_t> FindSpecial(std::string_view name) const;            // such as a language, "de_DE"
  std::int32_t size() const;                                                       // the largest token and one
  const Tokenizer* marian() const { return std::get_if<Tokenizer>(&tokenizer_); }  // null where it is another

 private:
  std::variant<Tokenizer, TokenizerPipeline> tokenizer_;
  std::vector<std::int32_t> before_, after_;
};

}  // namespace headlight
