// Trains a model that generates images pixel by pixel.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/recipes/model_training.h"

namespace headlight {

struct ImageGenerationTraining : ModelTraining {
  std::int64_t image_size = 32, clusters = 64;  ///< for a model from scratch: pixels per side, and colors
  bool flip = false;                            ///< if true, mirrors a random half of the images in each epoch
  bool skip_errors = false;                     ///< if true, skips damaged images
  std::int64_t most_pixels = kMostPixels;       ///< larger images cause errors before they are decoded
};

HEADLIGHT_API void Describe(OptionTable& table, ImageGenerationTraining& options);

/// Trains an ImageGPT, and saves a model folder. The colors of a model from scratch are found by k-means. Throws Error
/// if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainImageGeneration(ImageGenerationTraining options, const TrainingObserver& observer);

}  // namespace headlight
