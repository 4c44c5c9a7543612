// Generating: how a language model continues texts, by the likeliest word, beam search or sampling, over a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/nn/language_model.h"

namespace headlight {

struct GenerationOptions {
  std::int32_t beam_size = 1;  // 1: one word after another, the likeliest or a drawn one
  double length_penalty =
      1;                    // alpha: with beams a text scores log-probability / length^alpha; the prompt counts nothing
  std::int32_t n_best = 1;  // at most beam_size
  Stopping stopping = Stopping::no_better;

  // Each word is drawn from softmax(logits / temperature) over the top_k likeliest words, or all where that is 0, and
  // of those the likeliest until their probabilities sum to top_p (Holtzman et al., "The Curious Case of Neural Text
  // Degeneration", 2020).
  bool sample = false;
  double temperature = 1;
  std::int32_t top_k = 0;
  double top_p = 1;
  // Prompt i draws from the stream of numbers (seed, first_stream + i), whatever it is batched with.
  std::uint64_t seed = 0, first_stream = 0;

  // Of words that prompt or text already have, negative scores are multiplied and positive divided by it (Keskar et
  // al., "CTRL", 2019, section 4.1): of logits, or with beams of log-probabilities, as Transformers has it.
  double repetition_penalty = 1;
  std::int32_t no_repeat_ngram_size = 0;  // where positive, no so many words in a row come twice in prompt and text

  std::int32_t max_new_tokens = 128;       // the end included; never more than the model has positions for
  std::int32_t min_new_tokens = 0;         // the end is no candidate before so many
  std::vector<std::int32_t> end_ids = {};  // each ends a text

  std::int64_t batch_tokens = 2048;  // of prompts, that are read at once
  // Asked between steps; where it says yes, Generate throws Cancelled.
  std::function<bool()> cancelled = {};
  // Told every word of a text but its end as soon as it is chosen, and says whether to go on with that text. Not with
  // beams, whose words are not certain before the end.
  std::function<bool(std::size_t prompt, std::int32_t id)> on_token = {};
};

// For each prompt (its ids) its n_best continuations, best first. A hypothesis's log-probability is what the model
// itself gives to its words, but with beams what was searched for: the log-probabilities as the penalties leave them.
// What is generated for a prompt does not depend on the other prompts of the call. A model that was
// loaded with a draft drafts, as Decode does, a text that is written alone, word after likeliest word and without
// penalties. Throws Error where a prompt is empty, holds an id that there is not or is longer than the model's
// positions, and for impossible options.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model,
                                                            const std::vector<std::vector<std::int32_t>>& prompts,
                                                            const GenerationOptions& options);

// The log-probability of each of the ids [tokens] of the texts, given its text's earlier ones; of a text's first id,
// which has none, 0.
HEADLIGHT_API std::vector<double> TokenLogProbabilities(const LanguageModel& model, std::span<const std::int32_t> ids,
                                                        const Sequences& texts);

}  // namespace headlight
