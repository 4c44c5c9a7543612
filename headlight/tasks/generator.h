// What a language model writes, and what it thinks of what others wrote: load a folder once, call from as many threads
// as you like.
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
  std::optional<bool> sample = {};  // where it is not set, setting one of the next three asks for it
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
  // Asked between words; where it says yes, the call ends with Cancelled.
  std::function<bool()> cancelled = {};
  // Told what is certain of a text as soon as it is, in whole characters: with beams all of it at its end.
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
  TextSpan span;                          // the bytes of the text that it stands for
  std::optional<double> log_probability;  // none where nothing stands before it
};

struct TextScore {
  std::vector<TokenScore> tokens;
  double log_probability = 0;          // of all tokens that have one
  std::int64_t scored = 0, bytes = 0;  // so many, that stand for so many bytes
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

  // How likely each text is to the model, token by token. Where the model has a first token, that stands before a text;
  // else the text's own first one is not scored. A text that is longer than the model's positions is read through
  // windows of that many tokens, each beginning half a window after the one before it: a token is given at least half a
  // window, and what stands before that is forgotten. Throws Error where a text is not UTF-8.
  std::vector<TextScore> Score(std::span<const std::string> texts, std::int64_t batch_tokens = 2048) const;

  // What every head of every layer looks at while the model reads `text`. Throws Error where the text is not UTF-8, has
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
