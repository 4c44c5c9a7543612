// Translation, summarization and other text-to-text tasks: load a folder once, call it from any number of threads.
//   const Translator translator = Translator::Load("opus-mt-de-en");
//   std::string english = translator.Translate("Guten Tag!", {.beam_size = 2});
//   auto best = translator.TranslateBatch({"Guten Tag!", "Danke."}, {.beam_size = 5, .n_best = 3});  // best[1][0].text
//   std::string summary = Translator::Load("bart-large-cnn").Translate(article);
// A summary of a text that is too long for the model joins those of its parts: Translation::parts says how many.
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

class EncoderDecoder;    ///< kinds/encoder_decoder.h
class Tokenizer;         ///< text/tokenizers/tokenizer.h
class TranslationCall;   ///< pipelines/translation_call.h
struct TranslatorState;  ///< pipelines/translator_state.h

/// Immutable and cheap to copy; every method may be called from many threads at once. A text's translation does not
/// depend on what it is translated with.
class HEADLIGHT_API Translator {
 public:
  /// The folder of an encoder with a decoder, of any family: the model and its tokenizer. Throws Error naming the file
  /// and what is wrong with it, and where the processor does not have the type to compute in.
  ///   Translator::Load("opus-mt-de-en", {.compute = Compute::int8, .shortlist = true})
  static Translator Load(const std::string& folder, const LoadOptions& options = {});

  /// The text's best translation. Throws Error as TranslateBatch does.
  std::string Translate(std::string_view text, const TranslateOptions& options = {}) const;

  /// Of each text its n_best translations, best first; sampled ones in the order in which they were drawn. A text
  /// without words has one, which is empty. A text of more tokens than the model has positions is cut in halves until
  /// each part fits: near its middle, after a sentence, or else after a clause, or else after a word; the translations
  /// of the parts are joined by spaces. Throws Error where a text is not UTF-8, naming it ("text 1" for the first), and
  /// for impossible options, naming them.
  std::vector<std::vector<Translation>> TranslateBatch(std::span<const std::string> texts,
                                                       const TranslateOptions& options = {}) const;
  std::vector<std::vector<Translation>> TranslateBatch(std::initializer_list<std::string> texts,
                                                       const TranslateOptions& options = {}) const {
    return TranslateBatch(std::span(texts.begin(), texts.size()), options);
  }

  /// How many translations of a text there are, with beams at most.
  std::int32_t n_best(const TranslateOptions& options) const;

  /// A text's tokens as the encoder reads them, with the prefix and the special tokens around it; and their number.
  std::vector<std::int32_t> SourceIds(std::string_view text, const TranslateOptions& options = {}) const;
  std::int64_t CountTokens(std::string_view text, const TranslateOptions& options = {}) const;

  /// The attention weights of every head of every layer for `source` and `target`, or, without one, the model's own
  /// translation. Throws Error where either has no words or more tokens than the model has positions.
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
