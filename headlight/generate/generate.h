// Generates texts with a language model by greedy search, beam search or sampling, with a cache.
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
  /// The search options. The prompt is not part of a score, and is the source for logits processors. first_token
  /// applies to prompts of one token, as in Transformers.
  SearchOptions search = {};
  /// The unconditional prompt of search.guidance for all prompts. If empty, it is each prompt's last token.
  std::vector<std::int32_t> unguided = {};
  /// Prompt i uses the random stream (seed, first_stream + i) in any batch.
  std::uint64_t seed = 0, first_stream = 0;

  std::int32_t max_new_tokens = 128;  ///< maximum, including the end; also limited by the model's positions
  std::int32_t min_new_tokens = 0;    ///< minimum number of tokens
  std::int32_t max_length = 0;  ///< maximum including the prompt, as an alternative to max_new_tokens; 0: no such limit
  std::int32_t min_length = 0;

  std::int64_t batch_tokens = 2048;  ///< maximum total length of the prompts that are processed at once
  /// Called between steps. If it returns true, Generate throws Cancelled.
  std::function<bool()> cancelled = {};
  /// Called with every token of a text except its end as soon as it is chosen. Returns whether to continue that text.
  /// Not supported with beams, whose tokens are not final before the end.
  std::function<bool(std::size_t prompt, std::int32_t id)> on_token = {};
};

/// Returns the n_best continuations of each prompt (its ids), best first. Log-probabilities are those of the model or,
/// with guidance, of the guided logits. With beams, they include the processors. A continuation does not depend on the
/// other prompts of the call. A model with a draft uses speculative decoding, as Decode does, for a single text with
/// greedy search and no logits processors. Throws Error if a prompt is empty, has an id outside the vocabulary or does
/// not fit into the model's positions, and for invalid options.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model,
                                                            const std::vector<std::vector<std::int32_t>>& prompts,
                                                            const GenerationOptions& options);

/// Returns the requests that Generate makes for these prompts. Their on_token refers to `options`, which must outlive
/// them. Throws Error as Generate does.
HEADLIGHT_API std::vector<DecodingRequest> RequestsFor(const LanguageModel& model,
                                                       std::vector<std::vector<std::int32_t>> prompts,
                                                       const GenerationOptions& options);
/// Runs requests, for example from RequestsFor.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model,
                                                            std::vector<DecodingRequest> requests,
                                                            std::int64_t batch_tokens,
                                                            const std::function<bool()>& cancelled);

/// Returns the log-probability of each of the ids [tokens], given the earlier ids of its text. It is 0 for the first id
/// of each text.
HEADLIGHT_API std::vector<double> TokenLogProbabilities(const LanguageModel& model, std::span<const std::int32_t> ids,
                                                        const Sequences& texts);

}  // namespace headlight
