// `evaluate` with models that describe pictures.
#pragma once

#include "headlight/cli/evaluate_options.h"

namespace headlight {

// How many greedy captions are one of their picture's, their BLEU, and the loss of the pictures' own.
void EvaluateCaptionModel(const EvaluateOptions& options);

}  // namespace headlight
