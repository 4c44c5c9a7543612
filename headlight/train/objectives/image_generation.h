// Autoregressive image generation: the model predicts each pixel's color from the previous pixels, row by row (Chen et
// al., "Generative Pretraining from Pixels", 2020, section 2.1).
#pragma once

#include "headlight/base/export.h"
#include "headlight/data/color_images.h"
#include "headlight/kinds/language_model.h"
#include "headlight/train/training_task.h"

namespace headlight {

/// The training and validation images. They must outlive the task.
struct ColorSets {
  ColorImages train, valid;
};

struct ImageGenerationOptions {
  BatchOptions batches;  // batch_size counts images
  bool flip = false;     // half of the images are flipped horizontally
};

/// Trains an autoregressive image model. The model's input is the start token (the last token of the vocabulary) and
/// the colors of all pixels except the last. Validations report bits_per_pixel. Throws Error if there are no images, if
/// an image has more pixels than the model has positions, or if a color is not in the vocabulary.
HEADLIGHT_API TrainingTask ImageGenerationTask(LanguageModel& model, const ColorSets& images,
                                               const ImageGenerationOptions& options);

/// Returns the entropy of the colors' frequencies in bits per pixel, as a baseline.
HEADLIGHT_API double ColorEntropy(const ColorImages& images);

/// Returns the loss per pixel. bits_per_pixel is the same loss in bits. Throws the same errors as ImageGenerationTask.
HEADLIGHT_API ValidationReport ValidateImages(const LanguageModel& model, const ColorImages& images,
                                              const PassWatch& watch = {});

}  // namespace headlight
