// Translation, summarization and other text-to-text tasks: load a folder once, call it from any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/tasks/word_alignment.h"

namespace headlight {

class EncoderDecoder;  // nn/encoder_decoder.h
class Tokenizer;       // text/tokenizers/tokenizer.h

struct LoadOptions {
  // The type of matrix products; unless set, as the folder is stored: float32 or, where it was converted, int8 or int4.
  std::optional<Compute> compute = {};
  // Limits the output vocabulary by the folder's shortlist (`headlight shortlist`): often faster.
  bool shortlist = false;
  // Keeps an int8 copy of the weights for speculative decoding of single texts with greedy choice (Decode). A beam size
  // above 1 and no_repeat_ngram_size are refused then.
  bool draft = false;
};

// Options that are not set are those of the folder's generation_config.json or, without that file, config.json.
struct TranslateOptions {
  std::optional<std::int32_t> beam_size = {};   // 1: greedy; else num_beams there, or else 4
  std::optional<double> length_penalty = {};    // alpha: score / length^alpha; else length_penalty there, or else 1
  std::int32_t n_best = 1;                      // translations of each text, at most beam_size
  std::int32_t max_length = 0;                  // tokens of a translation, as DecodingOptions has it
  std::int64_t batch_tokens = 2048;             // source tokens that are translated at once
  bool alignment = false;                       // aligns words
  bool attention = false;                       // keeps the attention weights of every head
  std::optional<std::int32_t> min_length = {};  // as DecodingOptions has it
  std::optional<std::int32_t> no_repeat_ngram_size = {};  // likewise
  std::string task = {};             // of task_specific_params in config.json: its prefix and its settings
  std::string prefix = {};           // put before each text, after the task's, as T5's "summarize: "
  std::string source_language = {};  // a special token, as mBART's "de_DE"; else the tokenizer's own
  // Likewise; else forced_bos_token_id. Where a model's decoder begins with a language, it is that.
  std::string target_language = {};
  // Called between steps, by any thread, one at a time; where it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
};

struct Translation {
  std::string text;                          // on one line
  double score = 0;                          // log-probability / length^alpha; of a text in parts, the sum of theirs
  std::int64_t tokens = 0;                   // of the source, special ones included
  std::int32_t parts = 1;                    // more than 1 where the text had more tokens than the model has positions
  bool complete = true;                      // false where max_length cut it
  WordAlignment alignment;                   // if requested
  std::optional<AttentionRecord> attention;  // if requested; of the best one only, and not of a text in parts
};

// Immutable and cheap to copy; every method may be called from many threads at once. A text's translation does not
// depend on what it is translated with.
class HEADLIGHT_API Translator {
 public:
  // The folder of an encoder with a decoder, of any family: the model and its tokenizer. Throws Error naming the file
  // and what is wrong with it, and where the processor does not have the type to compute in.
  static Translator Load(const std::string& folder, const LoadOptions& options = {});

  std::string Translate(std::string_view text) const;

  // Of each text its n_best translations, best first. A text without words has one, which is empty. A text of more
  // tokens than the model has positions is cut in halves until each part fits: near its middle, after a sentence, or
  // else after a clause, or else after a word; the translations of the parts are joined by spaces. Throws Error where a
  // text is not UTF-8 and for impossible options.
  std::vector<std::vector<Translation>> TranslateBatch(std::span<const std::string> texts,
                                                       const TranslateOptions& options = {}) const;

  // The number of tokens of a text, special ones included.
  std::int64_t CountTokens(std::string_view text, const TranslateOptions& options = {}) const;

  // The attention weights of every head of every layer for `source` and `target`, or, without one, the model's own
  // translation. Throws Error where either has no words or more tokens than the model has positions.
  AttentionRecord Attention(std::string_view source, std::optional<std::string_view> target = {},
                            const TranslateOptions& options = {}) const;

  const EncoderDecoder& model() const;
  const Tokenizer& tokenizer() const;

 private:
  struct State;
  explicit Translator(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
