// Classification: one class of each text.
#pragma once

#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {

// A validation's score is the accuracy, beside it the macro F1, the mean of the classes' F1, in per cent. Its loss has
// no class weights. Throws Error for a text that is longer than the model or has no class of it.
HEADLIGHT_API TrainingTask ClassificationTask(TextEncoder& model, const TextSets& texts, const BatchOptions& batches,
                                              const std::vector<double>& class_weights = {});

/// The loss, the accuracy and the macro F1 on `texts`, which are the task's validation.
HEADLIGHT_API ValidationReport ValidateClasses(const TextEncoder& model, const std::vector<TextExample>& texts,
                                               const PassWatch& watch = {});

}  // namespace headlight
