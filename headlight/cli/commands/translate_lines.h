// Shared by `translate` and `summarize`: lines in, lines out.
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

// Translates the lines of the input, in their order. A line of more tokens than the model reads is divided; summaries
// of its parts would not be its own, and it is refused.
void TranslateLines(const LineTranslation& options);

}  // namespace headlight
