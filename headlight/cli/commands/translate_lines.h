// Shared by `translate` and `summarize`.
#pragma once

#include <string>

#include "headlight/cli/terminal/line_batches.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

struct LineTranslation : LineOptions {
  std::string folder, attention_file, target_prefixes;
  TranslateOptions translate;
  LoadOptions load;
  bool summarize = false;
};

// Translates or summarizes the lines of the input, in order. A line of more tokens than the model reads is divided for
// a translation, and refused for a summary.
void TranslateLines(const LineTranslation& options);

}  // namespace headlight
