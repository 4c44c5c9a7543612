// Pre-training a model of texts with the regions of images.
#pragma once

#include "headlight/base/export.h"
#include "headlight/recipes/region_training.h"

namespace headlight {

struct ImageTextTraining : RegionTraining {};

HEADLIGHT_API void Describe(OptionTable& table, ImageTextTraining& options);

/// Trains on masked tokens, masked regions, and whether a text and an image belong together, from scratch a ViLBERT,
/// and saves a model folder. Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainImageText(ImageTextTraining options, const TrainingObserver& observer);

}  // namespace headlight
