// Training a DALL-E, which draws images from texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/recipes/model_training.h"

namespace headlight {

struct TextToImageTraining : ModelTraining {
  std::vector<std::string> images;           ///< folders of the images that COCO's files name
  std::string vae, tokenizer;                ///< folders of the discrete VAE and the tokenizer of a model from scratch
  std::int32_t text_positions = 32;          ///< tokens of the longest text, of a model from scratch
  std::vector<std::string> attention_types;  ///< of a model from scratch, repeated for all layers; empty: as DALL-E's
  double drop_text = 0;                      ///< the share of the images that are trained on without their text
  bool skip_errors = false;                  ///< whether damaged images are left out

  const std::string& text_folder() const { return from.empty() ? tokenizer : from; }
  std::string coder_folder() const { return from.empty() ? vae : from + "/vae"; }
};

HEADLIGHT_API void Describe(OptionTable& table, TextToImageTraining& options);

/// Trains on images with texts, and saves a model folder. Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainTextToImage(TextToImageTraining options, const TrainingObserver& observer);

}  // namespace headlight
