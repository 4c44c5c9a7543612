// `evaluate` with models of two towers.
#pragma once

#include "headlight/cli/evaluate_options.h"

namespace headlight {

// How many pictures find their own text first, and texts their own picture, among 1,000 pairs.
void EvaluateDualEncoder(const EvaluateOptions& options);

}  // namespace headlight
