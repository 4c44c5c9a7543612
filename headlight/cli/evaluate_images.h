// `evaluate` with generators of pictures.
#pragma once

#include "headlight/cli/evaluate_options.h"

namespace headlight {

// The bits per pixel of pictures.
void EvaluateImageGenerator(const EvaluateOptions& options);

}  // namespace headlight
