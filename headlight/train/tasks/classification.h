// Classification: one class of each text.
#pragma once

#include "headlight/base/export.h"
#include "headlight/nn/text_encoder.h"
#include "headlight/train/tasks/token_task.h"

namespace headlight {

// A validation's score is the share of the texts whose class is right, in per cent. Throws Error for a text that is
// longer than the model or has no class of it.
HEADLIGHT_API TrainingTask ClassificationTask(TextEncoder& model, const TextSets& texts, const BatchOptions& batches);

}  // namespace headlight
