// `evaluate` with encoders and language models.
#pragma once

#include "headlight/cli/evaluate_options.h"

namespace headlight {

// Scores the model's head: classes of texts, tags, answers or masked words.
void EvaluateEncoder(const EvaluateOptions& options);

// The perplexity of texts.
void EvaluateLanguageModel(const EvaluateOptions& options);

}  // namespace headlight
