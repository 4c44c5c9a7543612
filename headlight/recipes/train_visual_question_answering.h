// Trains a model that answers questions about images from their regions.
#pragma once

#include "headlight/base/export.h"
#include "headlight/recipes/region_training.h"

namespace headlight {

struct VisualQuestionAnsweringTraining : RegionTraining {};

HEADLIGHT_API void Describe(OptionTable& table, VisualQuestionAnsweringTraining& options);

/// Trains a model, and saves its folder. Training from scratch creates a ViLBERT. If the model has no head for all
/// answers, a new head is added. Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainVisualQuestionAnswering(VisualQuestionAnsweringTraining options,
                                                          const TrainingObserver& observer);

}  // namespace headlight
