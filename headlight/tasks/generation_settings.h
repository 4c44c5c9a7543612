// Settings of generation_config.json that models of every kind have.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/generate/decode.h"
#include "headlight/nn/model.h"

namespace headlight {

// early_stopping: false, true or "never"; where it says nothing, `fallback`.
Stopping ReadStopping(const JsonView& settings, Stopping fallback);

// Reads num_beams, length_penalty, early_stopping, do_sample, temperature, top_k, top_p, repetition_penalty and
// no_repeat_ngram_size into fields of GenerationOptions or DecodingOptions. Where words are sampled, there are no
// beams.
template <typename Settings>
void ReadChoices(const JsonView& json, Settings& settings) {
  constexpr std::int64_t most = 1 << 24;
  const auto integer = [&](const char* name, std::int32_t& value, std::int64_t least, std::int64_t greatest) {
    value = static_cast<std::int32_t>(json.Get(name, value).Integer(least, greatest));
  };
  integer("num_beams", settings.beam_size, 1, 1024);
  integer("top_k", settings.top_k, 0, most);
  integer("no_repeat_ngram_size", settings.no_repeat_ngram_size, 0, most);
  settings.length_penalty = json.Get("length_penalty", settings.length_penalty).Number();
  settings.sample = json.Get("do_sample", settings.sample).Bool();
  settings.temperature = json.Get("temperature", settings.temperature).Number();
  settings.top_p = json.Get("top_p", settings.top_p).Number(0, 1);
  settings.repetition_penalty = json.Get("repetition_penalty", settings.repetition_penalty).Number();
  settings.stopping = ReadStopping(json, settings.stopping);
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
  set(settings.temperature, options.temperature);
  set(settings.top_k, options.top_k);
  set(settings.top_p, options.top_p);
  set(settings.repetition_penalty, options.repetition_penalty);
  set(settings.no_repeat_ngram_size, options.no_repeat_ngram_size);
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
  Check(!settings.sample && settings.repetition_penalty == 1 && settings.no_repeat_ngram_size == 0,
        "draft is for greedy choice, without sampling, repetition_penalty and no_repeat_ngram_size");
}

// Throws Error naming the first of these settings whose value is not the one given here, since it would change the
// result.
void RefuseUnusual(const JsonView& settings, std::initializer_list<std::pair<const char*, Json>> as_usual);

// A folder's settings of decoding, for a task or in general.
struct TranslationSettings {
  DecodingOptions decoding;
  std::string prefix;
};

// `settings` with the values that `json` gives, for a model with `positions`. Transformers' lengths include the
// decoder's start.
TranslationSettings ReadTranslationSettings(const JsonView& json, TranslationSettings settings, std::int64_t positions);

}  // namespace headlight
