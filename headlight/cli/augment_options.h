// The options of a training that change its pictures at random.
#pragma once

#include <string>

#include "headlight/base/json.h"
#include "headlight/base/option_table.h"
#include "headlight/cli/picture_training.h"
#include "headlight/image/augment.h"
#include "headlight/image/mix.h"

namespace headlight {

// As torchvision's users know them; of each, 0 means that it is left out.
struct AugmentOptions {
  std::string preset = "light";
  double least_share = 1;  // of RandomResizedCrop; 1: left out
  std::int64_t padding = 0;
  double flip = 0;
  ColourJitter jitter;
  double grey = 0, blur = 0, solarize = 0;
  int rand_augment = 0;  // its magnitude
  double erasing = 0;
  MixOptions mix;
};

void AddAugmentOptions(OptionTable& command, AugmentOptions& options);

// Takes from --augment what is not given itself.
void CompleteAugmentOptions(const PictureTrainingOptions& training, const AugmentOptions& options);

// To pictures of the processor's size, resized with its filter.
Augmentation AugmentationOf(const AugmentOptions& options, const PictureProcessor& processor);

// For what a resumed run must have in common.
Json DescriptionOf(const AugmentOptions& options);

}  // namespace headlight
