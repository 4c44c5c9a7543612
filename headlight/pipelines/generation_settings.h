// Settings of generation_config.json that models of every kind have.
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

// The kinds of models that differ in the settings that are implemented.
enum class GenerationKind : std::uint8_t { text = 1, translation = 2, caption = 4 };

// Throws Error naming the first member that could change the result and is not implemented for this kind of model, of
// all keys that the GenerationConfig of Transformers 5.24 and of earlier ones knows. Others are not generation
// settings.
void CheckGenerationSettings(const JsonView& settings, GenerationKind kind);

// The file that has the generation settings of a folder: generation_config.json or, without it, config.json.
const JsonView& GenerationSettings(const ModelFolder& folder);

// One token id or an array of them, without those outside the vocabulary; none where it is absent.
std::vector<std::int32_t> ReadTokenIds(const JsonView& json, std::int64_t vocabulary);

// early_stopping: false, true or "never"; where it says nothing, `fallback`.
Stopping ReadStopping(const JsonView& settings, Stopping fallback);

// Replace the values that `json` gives. Without a top_k Transformers samples from 50 tokens.
inline constexpr SamplingOptions kDefaultSampling = {.top_k = 50};
void ReadSampling(const JsonView& json, SamplingOptions& sampling);
// `pad_id`: -1 if there is none. It is written unless bad_words_ids has it.
void ReadProcessors(const JsonView& json, std::int64_t vocabulary, std::int32_t pad_id, SearchOptions& search);

// Where tokens are sampled, there are no beams.
void ReadSearch(const JsonView& json, std::int64_t vocabulary, std::int32_t pad_id, SearchOptions& search);

// Sets what the caller's options ask for. Throws Error for one that would have no effect.
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
  Check(search.sample || !draws, "`top_k`, `top_p` and `temperature` are for sampling, which is switched off");
  Check(search.sample || !options.seed,
        "`seed` is for sampling; `top_k`, `top_p`, `temperature` or `sample` ask for it");
}

// Throws Error where the model has a draft and these are not the options that it is for.
void CheckDraft(const Model& model, const SearchOptions& search);

// The settings of a language model. Without lengths there are at most 128 new tokens.
struct TextSettings {
  GenerationOptions generation = {.search = {.sampling = kDefaultSampling}};
  std::vector<std::string> stop = {};  // a text ends with the token that completes one of these
};
TextSettings ReadTextSettings(const JsonView& json, const LanguageModel::Limits& limits);

// A folder's settings of decoding, for a task or in general.
struct TranslationSettings {
  DecodingOptions decoding = {.search = {.beam_size = 4, .sampling = kDefaultSampling}};
  std::vector<std::string> stop = {};  // as in TextSettings
  std::string prefix;
  bool length_given = false;  // a greatest length, even that of the model's positions
};

// `settings` with the values that `json` gives, for a model with these limits. Transformers' lengths include the
// decoder's start.
TranslationSettings ReadTranslationSettings(const JsonView& json, TranslationSettings settings,
                                            const ConditionalDecoder::Limits& limits, GenerationKind kind);

}  // namespace headlight
