// What a folder's generation_config.json says of models of every kind.
#pragma once

#include <initializer_list>
#include <utility>

#include "headlight/base/json.h"
#include "headlight/generate/hypothesis.h"

namespace headlight {

// early_stopping: false, true or "never"; where it says nothing, `fallback`.
Stopping ReadStopping(const JsonView& settings, Stopping fallback);

// Throws Error naming the first of these settings that has another value than the one beside it: it would choose other
// words.
void RefuseUnusual(const JsonView& settings, std::initializer_list<std::pair<const char*, Json>> as_usual);

}  // namespace headlight
