// What `translate` and `summarize` share: lines in, lines out.
#pragma once

#include <string>

#include "headlight/tasks/translator.h"

namespace headlight {

struct LineTranslation {
  std::string folder, input = "-", attention_file;
  TranslateOptions translate;
  LoadOptions load;
};

// Translates the lines of the input, in their order. A line of more tokens than the model reads is divided or, where
// `whole`, refused.
void TranslateLines(const LineTranslation& options, bool whole);

}  // namespace headlight
