// Encodings that are cut to what a model reads.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// Removes tokens from the ends of the texts, or their beginnings, until there are at most `longest`; special tokens
// stay. The longer text is cut to what the other leaves, or if both are longer than half, both to half; the longer one,
// or of equal ones the second, keeps the odd token: "longest_first" of the tokenizers library (0.23). Returns whether
// any was removed. Throws Error where there are more special tokens than `longest`.
HEADLIGHT_API bool Truncate(Encoding& encoding, std::int64_t longest, CutAt side = CutAt::end);

}  // namespace headlight
