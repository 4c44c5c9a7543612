// A text as tokens, whatever the kind of tokenizer.
#pragma once

#include <string_view>

#include "headlight/base/export.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

/// Whether a text to translate and a translation are encoded apart, as MarianMT's are.
HEADLIGHT_API bool HasSides(const Tokenizer& tokenizer);

/// The tokens of a text, with those that the model expects around it. Without sides `side` is not read. With sides only
/// the end is special, no text spells it, and no words are counted. Throws Error naming the byte if the text is not
/// UTF-8.
HEADLIGHT_API Encoding EncodeOneText(const Tokenizer& tokenizer, std::string_view text,
                                     const EncodeOptions& options = {}, Side side = Side::source);

}  // namespace headlight
