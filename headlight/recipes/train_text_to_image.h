// Trains a DALL-E, a text-to-image model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/recipes/model_training.h"

namespace headlight {

struct TextToImageTraining : ModelTraining {
  std::vector<std::string> images;   ///< folders of the images that COCO files name
  std::string vae, tokenizer;        ///< folders of the discrete VAE and the tokenizer, for a model from scratch
  std::int32_t text_positions = 32;  ///< tokens of the longest text, for a model from scratch
  std::vector<std::string> attention_types;  ///< for a model from scratch, repeated for all layers; empty: as in DALL-E
  double drop_text = 0;                      ///< fraction of the images that are used without their text in training
  bool skip_errors = false;                  ///< if true, skips damaged images

  const std::string& text_folder() const { return from.empty() ? tokenizer : from; }
  std::string coder_folder() const { return from.empty() ? vae : from + "/vae"; }
};

HEADLIGHT_API void Describe(OptionTable& table, TextToImageTraining& options);

/// Trains on images with texts, and saves a model folder. Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainTextToImage(TextToImageTraining options, const TrainingObserver& observer);

}  // namespace headlight
