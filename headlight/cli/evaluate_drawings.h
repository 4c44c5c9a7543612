// `evaluate` with models that draw, and with coders of pictures.
#pragma once

#include "headlight/cli/evaluate_options.h"

namespace headlight {

// The loss of pictures with texts, and how many bits a code takes.
void EvaluateDrawer(const EvaluateOptions& options);

// How well pictures come back from their codes, and how many codes they have.
void EvaluatePictureCoder(const EvaluateOptions& options);

}  // namespace headlight
