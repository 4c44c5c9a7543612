// Generation with a language model: greedy choice, beam search or sampling, over a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/generate/decoding_batch.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/generate/search_options.h"
#include "headlight/kinds/language_model.h"

namespace headlight {

struct GenerationOptions {
  // The prompt does not count in a score, and is the processors' source. first_token is for prompts of one token, as in
  // Transformers.
  SearchOptions search = {};
  // With search.guidance, one prompt for all that lacks what is to be followed; if empty, the prompt's last token.
  std::vector<std::int32_t> unguided = {};
  // Prompt i uses the random stream (seed, first_stream + i), whatever it is batched with.
  std::uint64_t seed = 0, first_stream = 0;

  std::int32_t max_new_tokens = 128;  // the end included; at most what the model's positions allow
  std::int32_t min_new_tokens = 0;    // before which the end is not a candidate
  std::int32_t max_length = 0;        // the same of prompt and text together; 0: no such limit
  std::int32_t min_length = 0;

  std::int64_t batch_tokens = 2048;  // of prompts, that are read at once
  // Called between steps; where it returns true, Generate throws Cancelled.
  std::function<bool()> cancelled = {};
  // Called with every token of a text but its end as soon as it is chosen; returns whether to continue that text. Not
  // with beams, whose tokens are not final before the end.
  std::function<bool(std::size_t prompt, std::int32_t id)> on_token = {};
};

// For each prompt (its ids) its n_best continuations, best first. A hypothesis's log-probability is that of the model,
// or of the guided logits; with beams it includes the processors. A continuation does not depend on
// the other prompts of the call. A model with a draft uses speculative decoding, as Decode does, for a single text with
// greedy choice and without logits processors. Throws Error where a prompt is empty, has an id outside the vocabulary
// or is longer than the model's positions, and for impossible options.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model,
                                                            const std::vector<std::vector<std::int32_t>>& prompts,
                                                            const GenerationOptions& options);

/// The requests that Generate makes of so many prompts. The options must outlive them, for on_token. Throws Error as
/// Generate does.
HEADLIGHT_API std::vector<DecodingRequest> RequestsFor(const LanguageModel& model,
                                                       std::vector<std::vector<std::int32_t>> prompts,
                                                       const GenerationOptions& options);
/// The results of those requests.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model,
                                                            std::vector<DecodingRequest> requests,
                                                            std::int64_t batch_tokens,
                                                            const std::function<bool()>& cancelled);

// The log-probability of each of the ids [tokens] of the texts, given its text's earlier ones; of a text's first id,
// which has none, 0.
HEADLIGHT_API std::vector<double> TokenLogProbabilities(const LanguageModel& model, std::span<const std::int32_t> ids,
                                                        const Sequences& texts);

}  // namespace headlight
