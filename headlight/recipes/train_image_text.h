// Pre-trains a model whose inputs are texts and image regions.
#pragma once

#include "headlight/base/export.h"
#include "headlight/recipes/region_training.h"

namespace headlight {

struct ImageTextTraining : RegionTraining {};

HEADLIGHT_API void Describe(OptionTable& table, ImageTextTraining& options);

/// Trains on masked tokens, masked regions, and matching of images with texts, and saves a model folder. A model from
/// scratch is a ViLBERT. Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainImageText(ImageTextTraining options, const TrainingObserver& observer);

}  // namespace headlight
