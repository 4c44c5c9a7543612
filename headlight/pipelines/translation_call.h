// The steps of Translator::TranslateBatch before and after decoding, which an Engine performs for each of its requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/generate/decode.h"
#include "headlight/pipelines/translation_parts.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

class TranslationCall {
 public:
  /// Returns the shortlist that a Translator was loaded with, or null.
  static const Shortlist* ShortlistOf(const Translator& translator);

  /// Throws Error for invalid options.
  TranslationCall(Translator translator, TranslateOptions options);

  /// Reads the sources: texts, or the encoder's input tokens of one text. Throws the same errors as TranslateBatch.
  void Read(std::span<const std::string> texts);
  void Read(std::vector<std::int32_t> source);

  /// Returns the inputs of Decode: the tokens of every part of the texts, repeated for each sample.
  const std::vector<std::vector<std::int32_t>>& ids() const { return ids_; }
  const DecodingOptions& decoding() const { return decoding_; }

  /// Makes the translations from the hypotheses of each entry of ids().
  std::vector<std::vector<Translation>> Results(const std::vector<std::vector<Hypothesis>>& decoded) const;

 private:
  // Adds a part of a text. The first part of a text begins with its target prefix.
  void Add(SourcePart source, std::size_t part);
  void ReadPrefixes(std::size_t texts);

  Translator translator_;
  TranslateOptions options_;
  DecodingOptions decoding_;
  std::size_t samples_ = 1, texts_ = 0;
  std::vector<std::vector<std::int32_t>> target_prefixes_;  // one per text, or one for all
  std::vector<SourcePart> sources_;
  std::vector<std::vector<std::int32_t>> ids_;
};

}  // namespace headlight
