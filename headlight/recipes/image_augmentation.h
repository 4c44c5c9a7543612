// Options for augmentation of training images.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/base/option_table.h"
#include "headlight/image/augment.h"
#include "headlight/image/mix.h"
#include "headlight/image/processor.h"

namespace headlight {

/// The augmentations, named as in torchvision. An empty optional means the preset's value, or no augmentation of this
/// kind.
struct ImageAugmentation {
  std::optional<std::string> augment;  ///< the preset: none, light, standard or strong [light]
  std::optional<double> random_resized_crop, horizontal_flip, brightness, contrast, saturation, hue, grayscale,
      gaussian_blur, solarize, random_erasing, mixup, cutmix;
  std::optional<std::int32_t> rand_augment;
  std::optional<std::int64_t> random_crop;
};

HEADLIGHT_API void Describe(OptionTable& table, ImageAugmentation& options);

/// Sets empty options to the values of the preset.
void CompleteAugmentation(ImageAugmentation& options);

/// Returns the augmentation for the processor's image size and resize filter.
Augmentation AugmentationOf(const ImageAugmentation& options, const ImageProcessor& processor);
MixOptions MixOf(const ImageAugmentation& options);

/// Returns the settings that must not change when a run is resumed.
Json RunOf(const ImageAugmentation& options);

}  // namespace headlight
