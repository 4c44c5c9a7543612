// Reads the settings of generation_config.json that are common to all kinds of models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/generate/decode.h"
#include "headlight/generate/generate.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/conditional_decoder.h"
#include "headlight/kinds/language_model.h"
#include "headlight/kinds/model.h"

namespace headlight {

/// The kinds of models. Each kind implements different settings.
enum class GenerationKind : std::uint8_t { text = 1, translation = 2, caption = 4 };

/// Throws Error naming the first setting that could change the result and is not implemented for this kind of model.
/// The settings are the keys of GenerationConfig in Transformers 5.24 and earlier. Other keys are ignored.
void CheckGenerationSettings(const JsonView& settings, GenerationKind kind);

/// Returns the JSON with a folder's generation settings: generation_config.json, or config.json if that file is
/// missing.
const JsonView& GenerationSettings(const ModelFolder& folder);

/// Reads a token id or an array of token ids, and omits ids outside the vocabulary. Returns an empty vector if `json`
/// is absent.
std::vector<std::int32_t> ReadTokenIds(const JsonView& json, std::int64_t vocabulary);

/// Reads early_stopping, which is false, true or "never". Returns `fallback` if it is not set.
Stopping ReadStopping(const JsonView& settings, Stopping fallback);

/// The default seed of sampling, the same as in training.
inline constexpr std::uint64_t kDefaultSeed = 1;

/// ReadSampling replaces the values that `json` sets. As in Transformers, top_k is 50 by default.
inline constexpr SamplingOptions kDefaultSampling = {.top_k = 50};
void ReadSampling(const JsonView& json, SamplingOptions& sampling);
/// Reads the settings of logits processors. `pad_id` is the padding token, or -1 if there is none. A search may
/// generate the padding token unless bad_words_ids excludes it.
void ReadProcessors(const JsonView& json, std::int64_t vocabulary, std::int32_t pad_id, SearchOptions& search);

/// Reads the settings of the search. With sampling, the number of beams is 1.
void ReadSearch(const JsonView& json, std::int64_t vocabulary, std::int32_t pad_id, SearchOptions& search);

/// Applies the caller's options. Throws Error for an option that would have no effect.
template <typename Options>
void ApplyChoices(const Options& options, SearchOptions& search) {
  const auto set = [](auto& value, const auto& asked) {
    if (asked) value = *asked;
  };
  const bool draws = options.temperature || options.top_k || options.top_p;
  set(search.beam_size, options.beam_size);
  set(search.length_penalty, options.length_penalty);
  if (draws) search.sample = true;
  if (search.beam_size > 1 && options.beam_size && !draws) search.sample = false;
  set(search.sample, options.sample);
  if (search.sample && !options.beam_size) search.beam_size = 1;
  set(search.sampling.temperature, options.temperature);
  set(search.sampling.top_k, options.top_k);
  set(search.sampling.top_p, options.top_p);
  set(search.processors.repetition_penalty, options.repetition_penalty);
  set(search.processors.no_repeat_ngram_size, options.no_repeat_ngram_size);
  set(search.n_best, options.n_best);
  Check(search.n_best >= 1 && search.n_best <= 1024, "`n_best` must be from 1 to 1024, not {}", search.n_best);
  Check(search.sample || !draws, "`top_k`, `top_p` and `temperature` are for sampling, which is off");
  Check(search.sample || !options.seed,
        "`seed` is for sampling, which `top_k`, `top_p`, `temperature` or `sample` select");
}

/// Throws Error if the model has a draft and `search` is not greedy search.
void CheckDraft(const Model& model, const SearchOptions& search);

/// The settings of a language model. By default at most 128 new tokens are generated.
struct TextSettings {
  GenerationOptions generation = {.search = {.sampling = kDefaultSampling}};
  std::vector<std::string> stop = {};  ///< a text ends with the token that completes one of these strings
};
TextSettings ReadTextSettings(const JsonView& json, const LanguageModel::Limits& limits);

/// A folder's decoding settings, for all tasks or for one task.
struct TranslationSettings {
  DecodingOptions decoding = {.search = {.beam_size = 4, .sampling = kDefaultSampling}};
  std::vector<std::string> stop = {};  ///< as in TextSettings
  std::string prefix;
  bool length_given = false;  ///< true if the folder specifies a maximum length
};

/// Returns `settings`, overridden by the values in `json`, for a model with these limits. Lengths in `json` include the
/// start token, as in Transformers.
TranslationSettings ReadTranslationSettings(const JsonView& json, TranslationSettings settings,
                                            const ConditionalDecoder::Limits& limits, GenerationKind kind);

}  // namespace headlight
