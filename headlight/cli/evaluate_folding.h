// `evaluate` with models of protein structures.
#pragma once

#include "headlight/cli/evaluate_options.h"

namespace headlight {

// Folds chains of known structure and scores them; beside what alignments alone tell of contacts, and, with --train,
// what known structures tell without a model.
void EvaluateFolding(const EvaluateOptions& options);

}  // namespace headlight
