// Checks that a text fits in the model's input.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

/// Throws Error, with a message that begins with `name`, if a text has more tokens than the model accepts. Summaries of
/// its parts would not be a summary of the whole text.
HEADLIGHT_API void CheckReadAtOnce(const Translator& translator, const std::string& text,
                                   const TranslateOptions& options, const std::string& name);

/// Truncates a text that has more tokens than the model accepts. Returns true if the text was truncated.
HEADLIGHT_API bool TruncateToRead(const Translator& translator, std::string& text, const TranslateOptions& options);

}  // namespace headlight
