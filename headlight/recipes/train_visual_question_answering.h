// Training a model to answer questions about images, from the regions that boxes hold.
#pragma once

#include "headlight/base/export.h"
#include "headlight/recipes/region_training.h"

namespace headlight {

struct VisualQuestionAnsweringTraining : RegionTraining {};

HEADLIGHT_API void Describe(OptionTable& table, VisualQuestionAnsweringTraining& options);

/// Trains, from scratch a ViLBERT, and saves a model folder. A model without a head for all answers is given a new one.
/// Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainVisualQuestionAnswering(VisualQuestionAnsweringTraining options,
                                                          const TrainingObserver& observer);

}  // namespace headlight
