// Truncates encodings to what a model reads.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

/// Removes tokens from the ends or the beginnings of the texts until there are at most `longest` tokens; special tokens
/// are kept. This is "longest_first" of the tokenizers library (0.23): the longer text is truncated to what the other
/// one leaves, or if both are longer than half, both to half. The odd token goes to the longer text, or to the second
/// if lengths are equal. Returns true if any token was removed. Throws Error if there are more special tokens than
/// `longest`.
HEADLIGHT_API bool Truncate(Encoding& encoding, std::int64_t longest, CutAt side = CutAt::end);

}  // namespace headlight
