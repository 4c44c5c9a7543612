// The check that a model reads the whole of a text.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

/// Throws Error, which begins with `place`, for a text of more tokens than the model reads: summaries of its parts
/// would be none of the whole.
HEADLIGHT_API void CheckReadAtOnce(const Translator& translator, const std::string& text,
                                   const TranslateOptions& options, const std::string& place);

/// Leaves out the end of a text of more tokens than the model reads, and returns whether it did.
HEADLIGHT_API bool TruncateToRead(const Translator& translator, std::string& text, const TranslateOptions& options);

}  // namespace headlight
