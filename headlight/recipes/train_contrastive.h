// Trains models contrastively on images with texts, or on pairs of texts.
#pragma once

#include "headlight/base/export.h"
#include "headlight/recipes/contrastive_training.h"

namespace headlight {

HEADLIGHT_API void Describe(OptionTable& table, ContrastiveTraining& options);

/// Trains a CLIP, a SigLIP or a text encoder, and saves a model folder. Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainContrastive(ContrastiveTraining options, const TrainingObserver& observer);

}  // namespace headlight
