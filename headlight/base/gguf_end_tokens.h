// Finds the tokens that end a generation in a GGUF file's vocabulary.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/gguf.h"

namespace headlight {

/// Returns the ids under the keys `eos_token_id`, `eot_token_id` and `eom_token_id`. After these ids come the tokens
/// that are known to end a reply of chat models, such as `<|im_end|>`. Each id occurs once. The first id is the
/// end-of-text token if the file has one. Throws Error if a key has another type or an id is outside the vocabulary.
HEADLIGHT_API std::vector<std::int64_t> GgufEndTokens(const Gguf& file);

}  // namespace headlight
