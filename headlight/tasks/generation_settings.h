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
#include "headlight/nn/conditional_decoder.h"
#include "headlight/nn/language_model.h"
#include "headlight/nn/model.h"

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
// A model whose `pad_id` (-1: none) is never written needs no bad_words_ids for it.
void ReadProcessors(const JsonView& json, std::int64_t vocabulary, std::int32_t pad_id, LogitsProcessors& processors);

// Reads what GenerationOptions and DecodingOptions share. Where tokens are sampled, there are no beams.
template <typename Settings>
void ReadChoices(const JsonView& json, std::int64_t vocabulary, std::int32_t pad_id, Settings& settings) {
  settings.beam_size = static_cast<std::int32_t>(json.Get("num_beams", settings.beam_size).Integer(1, 1024));
  settings.n_best = static_cast<std::int32_t>(json.Get("num_return_sequences", settings.n_best).Integer(1, 1024));
  settings.length_penalty = json.Get("length_penalty", settings.length_penalty).Number();
  settings.sample = json.Get("do_sample", settings.sample).Bool();
  settings.stopping = ReadStopping(json, settings.stopping);
  ReadSampling(json, settings.sampling);
  ReadProcessors(json, vocabulary, pad_id, settings.processors);
}

// Sets what the caller's options ask for. Throws Error for one that would have no effect.
template <typename Settings, typename Options>
void ApplyChoices(const Options& options, Settings& settings) {
  const auto set = [](auto& value, const auto& asked) {
    if (asked) value = *asked;
  };
  const bool draws = options.temperature || options.top_k || options.top_p;
  set(settings.beam_size, options.beam_size);
  set(settings.length_penalty, options.length_penalty);
  if (draws) settings.sample = true;
  if (settings.beam_size > 1 && options.beam_size && !draws) settings.sample = false;
  set(settings.sample, options.sample);
  if (settings.sample && !options.beam_size) settings.beam_size = 1;
  set(settings.sampling.temperature, options.temperature);
  set(settings.sampling.top_k, options.top_k);
  set(settings.sampling.top_p, options.top_p);
  set(settings.processors.repetition_penalty, options.repetition_penalty);
  set(settings.processors.no_repeat_ngram_size, options.no_repeat_ngram_size);
  set(settings.n_best, options.n_best);
  Check(settings.n_best >= 1 && settings.n_best <= 1024, "n_best must be from 1 to 1024, not {}", settings.n_best);
  settings.seed = options.seed.value_or(0);
  Check(settings.sample || !draws, "top_k, top_p and the option temperature are for sampling, which is switched off");
  Check(settings.sample || !options.seed,
        "seed is for sampling; top_k, top_p, the option temperature or the option sample ask for it");
}

// Throws Error where the model has a draft and these are not the settings that it is for.
template <typename Settings>
void CheckDraft(const Model& model, const Settings& settings) {
  if (!model.parameters().have_draft()) return;
  Check(settings.beam_size == 1, "draft is for greedy choice: beam_size must be 1, not {}", settings.beam_size);
  Check(
      !settings.sample && !settings.processors.any(),
      "draft is for greedy choice, without sampling, repetition_penalty, no_repeat_ngram_size and other changes of the "
      "scores");
}

// The settings of a language model. Without lengths there are at most 128 new tokens.
struct TextSettings {
  GenerationOptions generation = {.sampling = kDefaultSampling};
  std::vector<std::string> stop = {};  // a text ends with the token that completes one of these
};
TextSettings ReadTextSettings(const JsonView& json, const LanguageModel::Limits& limits);

// A folder's settings of decoding, for a task or in general.
struct TranslationSettings {
  DecodingOptions decoding = {.sampling = kDefaultSampling};
  std::string prefix;
  bool length_given = false;  // a greatest length, even that of the model's positions
};

// `settings` with the values that `json` gives, for a model with these limits. Transformers' lengths include the
// decoder's start.
TranslationSettings ReadTranslationSettings(const JsonView& json, TranslationSettings settings,
                                            const ConditionalDecoder::Limits& limits, GenerationKind kind);

}  // namespace headlight
