// Trains a discrete VAE, which encodes images as grids of codes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/models/discrete_vae.h"
#include "headlight/recipes/image_training.h"
#include "headlight/train/objectives/image_codes.h"

namespace headlight {

struct ImageCodesTraining : ModelTraining {
  ImageCodesTraining() { annealing.temperature_batches = 3000; }

  DiscreteVaeConfig vae = {.image = 64, .codes = 512, .code_width = 64, .blocks = 1};  ///< for a model from scratch
  std::string loss = "l2";                                                             ///< l2 or logit-laplace
  std::optional<double> first_kl_weight, kl_weight;
  std::optional<std::int64_t> kl_batches;
  ImageCodesOptions annealing;  ///< annealing of the temperature, and random flips
  bool skip_errors = false;     ///< if true, skips damaged images
  std::int64_t most_pixels = kMostPixels;
};

HEADLIGHT_API void Describe(OptionTable& table, ImageCodesTraining& options);

/// Trains a discrete VAE (Ramesh et al., 2021), and saves a model folder. Throws Error if a file or an option is wrong.
HEADLIGHT_API TrainingResult TrainImageCodes(ImageCodesTraining options, const TrainingObserver& observer);

}  // namespace headlight
