// Settings of generation_config.json that models of every kind have.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "headlight/base/json.h"
#include "headlight/generate/decode.h"

namespace headlight {

// early_stopping: false, true or "never"; where it says nothing, `fallback`.
Stopping ReadStopping(const JsonView& settings, Stopping fallback);

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
