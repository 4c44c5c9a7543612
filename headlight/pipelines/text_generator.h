// Text generation and scoring with a language model.
//   const TextGenerator generator = TextGenerator::Load("gpt2");
//   std::string text = generator.Generate("Once upon a time", {.temperature = 0.8, .seed = 7, .stop = {"."}}).text;
#pragma once

#include <cstdint>
#include <functional>
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
#include "headlight/text/text_span.h"

namespace headlight {

class GenerationCall;       // pipelines/generation_call.h
class LanguageModel;        // kinds/language_model.h
class PipelineTokenizer;    // text/tokenizers/pipeline_tokenizer.h
struct TextGeneratorState;  // pipelines/text_generator_state.h

/// Options that are not set are read from generation_config.json in the folder. The key of an option is its name, or
/// the name in brackets in its comment. If the key is missing, the default in the comment applies. The file's
/// eos_token_id ends a text.
struct GenerateOptions {
  /// Options for the search. Beam search keeps the beam_size best texts. A beam_size of 1 selects greedy search or
  /// sampling.
  std::optional<std::int32_t> beam_size = {};  ///< 1 to 1024 [num_beams]; default: 1
  std::optional<double> length_penalty =
      {};  ///< for beam search: alpha in score = log-probability / length^alpha; default: 1
  std::optional<std::int32_t> n_best =
      {};  ///< texts per prompt; without sampling at most beam_size [num_return_sequences]; default: 1

  /// Options for sampling. The next token is sampled from softmax(logits / temperature). `top_k` and then `top_p`
  /// restrict the choice to the most likely tokens, by number and by the sum of their probabilities. With sampling, the
  /// key num_beams is ignored.
  std::optional<bool> sample = {};  ///< true if temperature, top_k or top_p is set; else [do_sample]; default: false
  std::optional<double> temperature = {};  ///< above 0; default: 1
  std::optional<std::int32_t> top_k = {};  ///< 0 means all; default: 50
  std::optional<double> top_p = {};        ///< above 0, at most 1; default: 1

  std::optional<double> repetition_penalty = {};  ///< values above 1 make repeated tokens less likely; default: 1
  std::optional<std::int32_t> no_repeat_ngram_size =
      {};                                           ///< the size of n-grams that must not repeat; default: 0 (no limit)
  std::optional<std::int32_t> max_new_tokens = {};  ///< maximum number of new tokens, including the end; default: 128
  std::optional<std::int32_t> min_new_tokens = {};  ///< minimum number of new tokens; default: 0

  std::optional<std::uint64_t> seed = {};  ///< seed of sampling; by default 1
  std::uint64_t first_stream = 0;          ///< prompt i uses the random stream (seed, first_stream + i)
  std::int64_t batch_tokens = 2048;        ///< prompt tokens that are processed at once
  std::vector<std::string> stop = {};      ///< a text ends before the first of these strings
  /// Called between tokens. If it returns true, the call throws Cancelled.
  std::function<bool()> cancelled = {};
  /// Called with each piece of a text as soon as the piece is final, in whole characters. With beam search it is called
  /// once, at the end. Text c of prompt p has the index `text` = p * n_best + c.
  std::function<void(std::size_t text, std::string_view piece)> on_text = {};
};

/// The reason why a text ended.
enum class FinishReason {
  end,        ///< the model generated an end token
  stop,       ///< a stop string was found
  length,     ///< max_new_tokens is reached, or no token is allowed
  positions,  ///< prompt and text fill the model's positions
};

struct GeneratedText {
  std::string text;  ///< the continuation, without the prompt
  FinishReason finish_reason = FinishReason::end;
  std::int64_t prompt_tokens = 0;  ///< tokens of the prompt
  std::int64_t tokens = 0;         ///< tokens of the text, without the end token
  double log_probability = 0;      ///< natural logarithm, sum over the tokens and the end token
};

struct TokenScore {
  std::int32_t id = 0;
  TextSpan span;                          ///< the bytes of the token in the text
  std::optional<double> log_probability;  ///< not set for the first token if there is no start token
};

struct HEADLIGHT_API TextScore {
  std::vector<TokenScore> token_scores;  ///< of all tokens of the text
  double log_probability = 0;            ///< the sum over the tokens
  std::int64_t tokens = 0, bytes = 0;    ///< number of tokens with a log-probability, and of their bytes
  double divergence = 0;                 ///< the sum of the Kullback-Leibler divergences from `baseline` in nats
  double perplexity() const;             ///< exp(-log_probability / tokens)
  double bits_per_byte() const;          ///< -log2(probability) / bytes
  double kl_divergence() const;          ///< divergence / tokens
};

struct ScoreOptions {
  std::int64_t batch_tokens = 2048;  ///< tokens scored at once
  bool with_end = false;  ///< if true, also scores the end token after each text, as one more token and one more byte

  /// The number of tokens of a window, including the start token: from 2 to the model's positions, which is the
  /// default.
  std::optional<std::int64_t> max_input_length = {};
  /// The number of tokens from the start of a window to the start of the next, from 1 to `max_input_length` - 1. The
  /// default is max_input_length / 2. A token of a later window has a context of at least `max_input_length` -
  /// `window_step` tokens.
  std::optional<std::int64_t> window_step = {};
  /// If true, the model's start token is put before a text that does not begin with it. Without a start token, the
  /// first token of the text has no score. The default is true if the model has a start token.
  std::optional<bool> start_token = {};
  /// If not null, the divergence from this model is also computed. It must have as many outputs as the model. Windows
  /// are at most as long as its positions.
  const LanguageModel* baseline = nullptr;
};

/// Generates and scores texts. Immutable and cheap to copy. All methods are thread-safe. A text does not depend on the
/// other texts of a call, except that the index of the prompt selects the random stream.
class HEADLIGHT_API TextGenerator {
 public:
  /// Loads a language model with its tokenizer from a folder or a GGUF file. Throws Error that names the file and the
  /// problem if a file is invalid or not supported. Throws Error if the processor does not support the compute type.
  ///   TextGenerator::Load("gpt2-xl", {.compute = Compute::int4})
  static TextGenerator Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the n_best continuations of each prompt, the best first. Samples are in the order of sampling. A special
  /// token in a prompt is encoded as that token. An empty prompt is replaced by the model's start token. Throws Error
  /// that names the prompt if it is not UTF-8 or has more tokens than the model has positions. An empty prompt is an
  /// error if the model has no start token. Throws Error naming an invalid option.
  std::vector<std::vector<GeneratedText>> Generate(std::span<const std::string> prompts,
                                                   const GenerateOptions& options = {}) const;
  std::vector<std::vector<GeneratedText>> Generate(std::initializer_list<std::string> prompts,
                                                   const GenerateOptions& options = {}) const {
    return Generate(std::span(prompts.begin(), prompts.size()), options);
  }
  /// Returns the first continuation of one prompt.
  GeneratedText Generate(std::string_view prompt, const GenerateOptions& options = {}) const;

  /// Returns the number of texts for each prompt. Beam search may find fewer.
  std::int32_t n_best(const GenerateOptions& options) const;

  /// Returns the log-probability of each token of each text. A text longer than the window is scored in overlapping
  /// windows. Each window begins `window_step` tokens after the previous one, and scores the tokens that no earlier
  /// window has scored. Throws Error if a text is not UTF-8, and for invalid options.
  std::vector<TextScore> Score(std::span<const std::string> texts, const ScoreOptions& options = {}) const;

  /// Returns the attention weights of every head of every layer for `text`. Throws Error if the text is not UTF-8, or
  /// has no tokens or more than the model's positions.
  AttentionRecord Attention(std::string_view text) const;

  const LanguageModel& model() const;
  const PipelineTokenizer& tokenizer() const;

 private:
  friend class GenerationCall;
  explicit TextGenerator(std::shared_ptr<const TextGeneratorState> state) : state_(std::move(state)) {}
  std::shared_ptr<const TextGeneratorState> state_;
};

}  // namespace headlight
