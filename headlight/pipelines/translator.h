// Translation, summarization and other text-to-text tasks.
//   const Translator translator = Translator::Load("opus-mt-de-en");
//   std::string english = translator.Translate("Guten Tag!", {.beam_size = 2});
//   auto best = translator.TranslateBatch({"Guten Tag!", "Danke."}, {.beam_size = 5, .n_best = 3});  // best[1][0].text
//   std::string summary = Translator::Load("bart-large-cnn").Translate(article);
// If a text is too long for the model, the summaries of its parts are joined. Translation::parts is the number of
// parts.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/pipelines/translation.h"

namespace headlight {

class EncoderDecoder;    // kinds/encoder_decoder.h
class Tokenizer;         // text/tokenizers/tokenizer.h
class TranslationCall;   // pipelines/translation_call.h
struct TranslatorState;  // pipelines/translator_state.h

/// Translates and summarizes texts. Immutable and cheap to copy. All methods are thread-safe. A translation does not
/// depend on the other texts of a call.
class HEADLIGHT_API Translator {
 public:
  /// Loads an encoder-decoder of any family, with its tokenizer, from a folder or from a GGUF file of a T5. Throws
  /// Error naming the file and the problem if a file is invalid, and if the processor does not support the compute
  /// type.
  ///   Translator::Load("opus-mt-de-en", {.compute = Compute::int8, .shortlist = true})
  static Translator Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the best translation of a text. Throws the same errors as TranslateBatch.
  std::string Translate(std::string_view text, const TranslateOptions& options = {}) const;

  /// Returns the n_best translations of each text, the best first. Samples are in the order of sampling. A text without
  /// words has one translation, which is empty. A text with more tokens than the model has positions is split in two
  /// until each part fits. The split is near the middle, preferably after a sentence, then after a clause, then after a
  /// word, then after a token. The translations of the parts are joined by spaces. Throws Error naming the text ("text
  /// 1" for the first) if it is not UTF-8. Throws Error naming an invalid option.
  std::vector<std::vector<Translation>> TranslateBatch(std::span<const std::string> texts,
                                                       const TranslateOptions& options = {}) const;
  std::vector<std::vector<Translation>> TranslateBatch(std::initializer_list<std::string> texts,
                                                       const TranslateOptions& options = {}) const {
    return TranslateBatch(std::span(texts.begin(), texts.size()), options);
  }

  /// Returns the number of translations of a text. Beam search may find fewer.
  std::int32_t n_best(const TranslateOptions& options) const;

  /// Return the encoder's input tokens for a text, and the number of these tokens. The tokens include the prefix and
  /// special tokens.
  std::vector<std::int32_t> SourceIds(std::string_view text, const TranslateOptions& options = {}) const;
  std::int64_t CountTokens(std::string_view text, const TranslateOptions& options = {}) const;

  /// Returns the attention weights of every head of every layer for `source` and `target`. Without `target`, the
  /// translation that the model generates is used. Throws Error if a text has no words, or has more tokens than the
  /// model has positions.
  AttentionRecord Attention(std::string_view source, std::optional<std::string_view> target = {},
                            const TranslateOptions& options = {}) const;

  const EncoderDecoder& model() const;
  const Tokenizer& tokenizer() const;

 private:
  friend class TranslationCall;
  explicit Translator(std::shared_ptr<const TranslatorState> state) : state_(std::move(state)) {}
  std::shared_ptr<const TranslatorState> state_;
};

}  // namespace headlight
