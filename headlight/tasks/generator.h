// Text generation and scoring with a language model: load a folder once, call it from any number of threads.
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
#include "headlight/text/text_span.h"

namespace headlight {

class LanguageModel;      // nn/language_model.h
class PipelineTokenizer;  // text/tokenizers/pipeline_tokenizer.h

// As GenerationOptions (generate/generate.h) has them. Unless set: as generation_config.json says (num_beams,
// length_penalty, early_stopping, do_sample, temperature, top_k, top_p, repetition_penalty, no_repeat_ngram_size,
// max_new_tokens, min_new_tokens; its eos_token_id ends a text), or else as there. Where words are drawn, its num_beams
// does not count. A length penalty without beams and a seed without a draw are refused.
struct GenerateOptions {
  std::optional<std::int32_t> beam_size = {};
  std::optional<double> length_penalty = {};
  std::optional<bool> sample = {};  // if not set, true where one of the next three is
  std::optional<double> temperature = {};
  std::optional<std::int32_t> top_k = {};
  std::optional<double> top_p = {};
  std::optional<double> repetition_penalty = {};
  std::optional<std::int32_t> no_repeat_ngram_size = {};
  std::optional<std::int32_t> max_new_tokens = {};
  std::optional<std::int32_t> min_new_tokens = {};
  std::optional<std::uint64_t> seed = {};  // of drawn words; else 0
  std::uint64_t first_stream = 0;
  std::int64_t batch_tokens = 2048;
  std::vector<std::string> stop = {};  // a text ends before the first of these
  // Called between tokens; where it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
  // Called with each piece of a text as soon as it is final, in whole characters; with beams once, at the end.
  std::function<void(std::size_t text, std::string_view piece)> on_text = {};
};

enum class TextEnd { end_token, stop, length };  // length: max_new_tokens, or the model's positions

struct GeneratedText {
  std::string text;  // what follows the prompt
  TextEnd end = TextEnd::end_token;
  std::int64_t prompt_tokens = 0, tokens = 0;  // the end is not counted
  double log_probability = 0;                  // of the tokens and the end
};

struct TokenScore {
  std::int32_t id = 0;
  TextSpan span;                          // its bytes of the text
  std::optional<double> log_probability;  // none where nothing stands before it
};

struct TextScore {
  std::vector<TokenScore> tokens;
  double log_probability = 0;          // of all tokens that have one
  std::int64_t scored = 0, bytes = 0;  // tokens that have one, and their bytes
  double perplexity() const;           // exp(-log_probability / scored)
  double bits_per_byte() const;        // -log2(probability) / bytes
};

// Immutable and cheap to copy; every method may be called from many threads at once. What comes of a text does not
// depend on the others of the call, but for the stream of random numbers, which is its place among them.
class HEADLIGHT_API Generator {
 public:
  // A folder of a language model with its tokenizer. Throws Error naming the file and what is wrong with it or not
  // supported, and where the processor does not have the type to compute in. `draft`: whether to keep an int8
  // copy of the weights, which drafts what is written alone and greedily (Generate); nothing else may be asked for
  // then.
  static Generator Load(const std::string& folder, std::optional<Compute> compute = {}, bool draft = false);

  // Continues each prompt. A special token that stands in one is that token; an empty one is the model's first token,
  // where it has one. Throws Error where a prompt is not UTF-8, is empty though the model has no first token or is
  // longer than the model's positions, and for impossible options.
  std::vector<GeneratedText> Generate(std::span<const std::string> prompts, const GenerateOptions& options = {}) const;

  // The log-probability of each token of each text. The model's first token, where it has one, is put before a text;
  // else the text's own first token has no score. A text longer than the model's positions is read in windows of that
  // many tokens, each beginning half a window after the one before it, so that a token's context is at least half a
  // window. Throws Error where a text is not UTF-8.
  std::vector<TextScore> Score(std::span<const std::string> texts, std::int64_t batch_tokens = 2048) const;

  // The attention weights of every head of every layer for `text`. Throws Error where the text is not UTF-8, has
  // no tokens or more than the model's positions.
  AttentionRecord Attention(std::string_view text) const;

  const LanguageModel& model() const;
  const PipelineTokenizer& tokenizer() const;

 private:
  struct State;
  explicit Generator(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
