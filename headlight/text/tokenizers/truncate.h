// Encodings that are cut to what a model reads.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// Removes tokens from the end of the text, or of the longer of two, until there are at most `longest`; special tokens
// stay. Returns whether any was removed. Throws Error where there are more special tokens than `longest`.
HEADLIGHT_API bool Truncate(Encoding& encoding, std::int64_t longest);

}  // namespace headlight
