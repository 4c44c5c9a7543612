// `evaluate` with encoders of pictures.
#pragma once

#include "headlight/cli/evaluate_options.h"

namespace headlight {

// Scores the classes of labelled pictures, or with options.neighbours or linear_probe the features.
void EvaluatePictureEncoder(const EvaluateOptions& options);

// Scores the classes that a CLIP or SigLIP finds by their names in options.templates.
void EvaluateZeroShot(const EvaluateOptions& options);

}  // namespace headlight
