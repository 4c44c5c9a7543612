// Checks that the model reads a whole text at once.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

/// Throws Error that begins with `name` if a text has more tokens than the model reads: joined summaries of its parts
/// would not be a summary of the whole.
HEADLIGHT_API void CheckReadAtOnce(const Translator& translator, const std::string& text,
                                   const TranslateOptions& options, const std::string& name);

/// Truncates a text of more tokens than the model reads, and returns whether it did.
HEADLIGHT_API bool TruncateToRead(const Translator& translator, std::string& text, const TranslateOptions& options);

}  // namespace headlight
