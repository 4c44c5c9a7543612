// Translates or summarizes lines, for `translate` and `summarize`.
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

// Translates or summarizes the lines of the input, in order. If a line has more tokens than the model supports, a
// translation is computed in parts, and a summary throws Error.
void TranslateLines(const LineTranslation& options);

}  // namespace headlight
