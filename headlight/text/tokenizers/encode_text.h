// Encodes a text with any kind of tokenizer.
#pragma once

#include <string_view>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

/// Returns true if sources and translations are encoded differently, as in MarianMT's tokenizer.
HEADLIGHT_API bool HasSides(const Tokenizer& tokenizer);

/// Encodes a text with the special tokens that the model expects. For tokenizers without sides, `side` is ignored. For
/// tokenizers with sides, the only special token is the end token, and Encoding::words is not set. A text cannot
/// contain this end token. Throws Error naming the byte if the text is not UTF-8.
HEADLIGHT_API Encoding EncodeOneText(const Tokenizer& tokenizer, std::string_view text,
                                     const EncodeOptions& options = {}, Side side = Side::source);

}  // namespace headlight
