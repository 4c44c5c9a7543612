// `evaluate` with models that read one text and write another.
#pragma once

#include "headlight/cli/evaluate_options.h"

namespace headlight {

// Writes a text for each source and scores it: BLEU and chrF, or ROUGE; and the loss of the references.
void EvaluatePairs(const EvaluateOptions& options);

}  // namespace headlight
