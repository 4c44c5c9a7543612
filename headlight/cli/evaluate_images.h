// `evaluate` with models of pictures.
#pragma once

#include "headlight/cli/evaluate_options.h"

namespace headlight {

// The bits per pixel of pictures.
void EvaluateImageGenerator(const EvaluateOptions& options);

// COCO's scores of what a detector finds.
void EvaluateDetector(const EvaluateOptions& options);

}  // namespace headlight
