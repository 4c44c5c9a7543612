// Trains an image captioning model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/recipes/image_training.h"

namespace headlight {

struct CaptionTraining : ImageTraining {
  std::vector<std::string> images;  ///< folders of the images that COCO files name
  std::string tokenizer;            ///< folder of the tokenizer, for a model from scratch
  std::int64_t positions = 64;      ///< tokens of the longest caption, for a model from scratch
  double label_smoothing = 0;
  std::optional<std::int64_t> validate_images;  ///< number of images to caption in each validation [500]

  const std::string& tokenizer_folder() const { return from.empty() ? tokenizer : from; }
};

HEADLIGHT_API void Describe(OptionTable& table, CaptionTraining& options);

/// Trains a model, and saves its folder. A model from scratch is a ViT with a GPT-2 of the same sizes. Throws Error if
/// a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainCaptions(CaptionTraining options, const TrainingObserver& observer);

}  // namespace headlight
