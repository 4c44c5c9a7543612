// `evaluate` with models that read a text with the regions of a picture.
#pragma once

#include "headlight/cli/evaluate_options.h"

namespace headlight {

// How many answers to questions about pictures are right, of each kind of question, and how many would be without a
// picture.
void EvaluateRegionTextEncoder(const EvaluateOptions& options);

}  // namespace headlight
