// Evaluates a model on a test set. The scores depend on the model's task.
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/option_table.h"
#include "headlight/recipes/evaluation_options.h"

namespace headlight {

/// Adds all options except `Evaluation::confusion` to the table. `options` must outlive the table.
HEADLIGHT_API void Describe(OptionTable& table, Evaluation& options);

/// Evaluates the model. Throws Error if a file or an option is wrong.
HEADLIGHT_API EvaluationResult Evaluate(const Evaluation& options, const EvaluationObserver& observer = {});

}  // namespace headlight
