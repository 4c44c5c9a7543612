// The tokens that end a generation in a GGUF file's vocabulary.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/gguf.h"

namespace headlight {

/// The ids under the keys `eos_token_id`, `eot_token_id` and `eom_token_id`, then the tokens that chat models are known
/// to end a reply with, such as `<|im_end|>`. Each once; the first is the end of a text if the file has one. Throws
/// Error naming a key with another type or an id outside the vocabulary.
HEADLIGHT_API std::vector<std::int64_t> GgufEndTokens(const Gguf& file);

}  // namespace headlight
