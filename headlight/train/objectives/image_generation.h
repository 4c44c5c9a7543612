// Generation of images: each pixel's colour from those before it, row by row (Chen et al., "Generative Pretraining
// from Pixels", 2020, section 2.1).
#pragma once

#include "headlight/base/export.h"
#include "headlight/data/colour_images.h"
#include "headlight/kinds/language_model.h"
#include "headlight/train/training_task.h"

namespace headlight {

// The images of a training and of its validations. They must outlive the task.
struct ColourSets {
  ColourImages train, valid;
};

struct ImageGenerationOptions {
  BatchOptions batches;  // its size is in images
  bool flip = false;     // half of the images are mirrored, left to right
};

// The model reads its last token, the start, and the colours of all pixels but the last. A report has bits_per_pixel.
// Throws Error where there are no images, they have more pixels than the model positions, or other colours.
HEADLIGHT_API TrainingTask ImageGenerationTask(LanguageModel& model, const ColourSets& images,
                                               const ImageGenerationOptions& options);

// A baseline: bits per pixel by the frequencies of the colours alone.
HEADLIGHT_API double ColourEntropy(const ColourImages& images);

// The loss of a pixel's colour, and in bits bits_per_pixel. Throws Error likewise.
HEADLIGHT_API ValidationReport ValidateImages(const LanguageModel& model, const ColourImages& images,
                                              const PassWatch& watch = {});

}  // namespace headlight
