// Truncation of encodings to a model's maximum length.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

/// Removes tokens from the ends or the beginnings of the texts until there are at most `longest` tokens. Special tokens
/// are kept. This is "longest_first" of the tokenizers library (0.23): the longer text is truncated to the remaining
/// length. If both texts are longer than half of this length, both are truncated to half. An odd token goes to the
/// longer text, or to the second text if both are equally long. Returns true if any token was removed. Throws Error if
/// there are more special tokens than `longest`.
HEADLIGHT_API bool Truncate(Encoding& encoding, std::int64_t longest, CutAt side = CutAt::end);

}  // namespace headlight
