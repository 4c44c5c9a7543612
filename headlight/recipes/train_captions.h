// Training a model that describes images.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/recipes/image_training.h"

namespace headlight {

struct CaptionTraining : ImageTraining {
  std::vector<std::string> images;  ///< folders of the images that COCO's files name
  std::string tokenizer;            ///< the folder of the tokenizer for a model from scratch
  std::int64_t positions = 64;      ///< tokens of the longest caption, of a model from scratch
  double label_smoothing = 0;
  std::optional<std::int64_t> validate_images;  ///< images that a validation writes captions for [500]

  const std::string& tokenizer_folder() const { return from.empty() ? tokenizer : from; }
};

HEADLIGHT_API void Describe(OptionTable& table, CaptionTraining& options);

/// Trains, from scratch a ViT with a GPT-2 of the same sizes, and saves a model folder. Throws Error if a file or an
/// option is wrong.
HEADLIGHT_API TrainingResult TrainCaptions(CaptionTraining options, const TrainingObserver& observer);

}  // namespace headlight
