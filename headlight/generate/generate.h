// Generates texts with a language model by greedy search, beam search or sampling. Uses a cache.
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
  /// The search options. Scores do not include the prompt. Logits processors use the prompt as the source. first_token
  /// applies to prompts of one token, as in Transformers.
  SearchOptions search = {};
  /// The unconditional prompt of search.guidance for all prompts. If empty, each prompt's last token is used.
  std::vector<std::int32_t> unguided = {};
  /// In any batch, prompt i uses the random stream (seed, first_stream + i).
  std::uint64_t seed = 0, first_stream = 0;

  std::int32_t max_new_tokens = 128;  ///< maximum, including the end; also limited by the model's positions
  std::int32_t min_new_tokens = 0;    ///< minimum number of tokens
  std::int32_t max_length = 0;  ///< maximum including the prompt, as an alternative to max_new_tokens; 0: no limit
  std::int32_t min_length = 0;

  std::int64_t batch_tokens = 2048;  ///< maximum total length of the prompts that are processed at once
  /// Called between steps. If it returns true, Generate throws Cancelled.
  std::function<bool()> cancelled = {};
  /// Called with every token of a text except its end, as soon as it is chosen. Returns true to continue the text. Not
  /// supported with beams, because their tokens are not final before the end.
  std::function<bool(std::size_t prompt, std::int32_t id)> on_token = {};
};

/// Returns the n_best continuations of each prompt (given as ids), best first. Log-probabilities are computed from the
/// model's logits or, with guidance, from the guided logits. With beams, log-probabilities include the effect of the
/// processors. A continuation does not depend on the other prompts of the call. A model with a draft uses speculative
/// decoding, as Decode does, for a single text with greedy search and no logits processors. Throws Error for invalid
/// options, and if a prompt is empty, has an id outside the vocabulary or does not fit into the model's positions.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model,
                                                            const std::vector<std::vector<std::int32_t>>& prompts,
                                                            const GenerationOptions& options);

/// Returns the requests that Generate makes for these prompts. `options` must outlive the requests, because their
/// on_token refers to it. Throws the same errors as Generate.
HEADLIGHT_API std::vector<DecodingRequest> RequestsFor(const LanguageModel& model,
                                                       std::vector<std::vector<std::int32_t>> prompts,
                                                       const GenerationOptions& options);
/// Runs requests, such as those that RequestsFor returns.
HEADLIGHT_API std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model,
                                                            std::vector<DecodingRequest> requests,
                                                            std::int64_t batch_tokens,
                                                            const std::function<bool()>& cancelled);

/// Returns the log-probability of each of the ids [tokens], given the earlier ids of its text. For the first id of each
/// text, it is 0.
HEADLIGHT_API std::vector<double> TokenLogProbabilities(const LanguageModel& model, std::span<const std::int32_t> ids,
                                                        const Sequences& texts);

/// Returns for each of the ids [tokens] the Kullback-Leibler divergence in nats: the sum of p log(p / q) over the
/// vocabulary. p and q are the distributions of that token by the baseline and by the model. For the first id of each
/// text, it is 0. Throws Error if the models have different numbers of outputs.
HEADLIGHT_API std::vector<double> TokenDivergences(const LanguageModel& baseline, const LanguageModel& model,
                                                   std::span<const std::int32_t> ids, const Sequences& texts);

}  // namespace headlight
