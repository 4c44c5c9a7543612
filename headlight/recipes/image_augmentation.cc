#include "headlight/recipes/image_augmentation.h"

#include <map>

#include "headlight/base/option_checks.h"
#include "headlight/recipes/model_training.h"
#include "headlight/train/objectives/image_classification.h"

namespace headlight {
namespace {

const std::map<std::string, std::map<std::string, std::string>> kAugmentations = {
    {"none", {}},
    {"light", {{"--random-resized-crop", "0.6"}, {"--horizontal-flip", "0.5"}}},
    {"standard",
     {{"--random-resized-crop", "0.35"},
      {"--horizontal-flip", "0.5"},
      {"--brightness", "0.3"},
      {"--contrast", "0.3"},
      {"--saturation", "0.3"},
      {"--random-erasing", "0.1"}}},
    // The settings of DeiT (Touvron et al., 2021, table 9), without repeated augmentation and with a smaller minimum
    // crop.
    {"strong",
     {{"--random-resized-crop", "0.2"},
      {"--horizontal-flip", "0.5"},
      {"--rand-augment", "9"},
      {"--random-erasing", "0.25"},
      {"--mixup", "0.8"},
      {"--cutmix", "1"}}},
};

}  // namespace

void Describe(OptionTable& table, ImageAugmentation& options) {
  table
      .Add("--augment", options.augment, OneOf({"none", "light", "standard", "strong"}),
           "Random changes of the training images, new in each epoch; the options below take precedence")
      .Type("none|light|standard|strong")
      .Default("light")
      .Group("Augmentation");
  const auto add = [&](const char* name, auto& value, const OptionCheck& check, const char* description) {
    table.Add(name, value, check, description).Group("Augmentation");
  };
  add("--random-resized-crop", options.random_resized_crop, NumberAbove(0, 1),
      "Crop a region with this share of the area, or more, to the model's size; 1: all of the image");
  add("--random-crop", options.random_crop, Between(0, 1 << 15),
      "Shift the image by up to N pixels, padded with black");
  add("--horizontal-flip", options.horizontal_flip, NumberFrom(0, 1), "Probability of a flip");
  add("--rand-augment", options.rand_augment, Between(0, 30),
      "Two operations of RandAugment, of this magnitude; 0: none");
  add("--brightness", options.brightness, NumberFrom(0, 100), "Brighten or darken by up to this share");
  add("--contrast", options.contrast, NumberFrom(0, 100), "Change the contrast by up to this share");
  add("--saturation", options.saturation, NumberFrom(0, 100), "Change the saturation by up to this share");
  add("--hue", options.hue, NumberFrom(0, 0.5), "Shift the hue by up to this share of the color circle");
  add("--grayscale", options.grayscale, NumberFrom(0, 1), "Probability of a conversion to gray");
  add("--gaussian-blur", options.gaussian_blur, NumberFrom(0, 1), "Probability of a blur");
  add("--solarize", options.solarize, NumberFrom(0, 1), "Probability that bright pixels are inverted");
  add("--random-erasing", options.random_erasing, NumberFrom(0, 1), "Probability that a region is erased");
  add("--mixup", options.mixup, NumberFrom(0, 1000),
      "Blend pairs of images and their classes, with weights from Beta(X, X); 0: do not");
  add("--cutmix", options.cutmix, NumberFrom(0, 1000),
      "Paste regions of images into others, with areas from Beta(X, X); with `mixup`, one of the two per batch");
}

void CompleteAugmentation(ImageAugmentation& options) {
  OptionTable table;
  Describe(table, options);
  for (const auto& [name, value] : PresetOf(kAugmentations, options.augment.value_or("light"), "augment"))
    if (Option& option = table.Get(name); !option.has_value()) option.Give({value});
}

Augmentation AugmentationOf(const ImageAugmentation& options, const ImageProcessor& processor) {
  Augmentation augmentation{.size = FixedSize(processor),
                            .filter = processor.filter,
                            .padding = options.random_crop.value_or(0),
                            .flip = options.horizontal_flip.value_or(0),
                            .jitter = {.brightness = options.brightness.value_or(0),
                                       .contrast = options.contrast.value_or(0),
                                       .saturation = options.saturation.value_or(0),
                                       .hue = options.hue.value_or(0)},
                            .gray = options.grayscale.value_or(0),
                            .blur = options.gaussian_blur.value_or(0),
                            .solarize = options.solarize.value_or(0)};
  if (const double least = options.random_resized_crop.value_or(1); least < 1) augmentation.share = Range{least, 1};
  if (options.rand_augment.value_or(0) > 0)
    augmentation.rand_augment = {.operations = 2, .magnitude = *options.rand_augment};
  return augmentation;
}

MixOptions MixOf(const ImageAugmentation& options) {
  return {.mixup = options.mixup.value_or(0), .cutmix = options.cutmix.value_or(0)};
}

Json RunOf(const ImageAugmentation& options) {
  return Json::Object{{"random_resized_crop", options.random_resized_crop.value_or(1)},
                      {"random_crop", options.random_crop.value_or(0)},
                      {"horizontal_flip", options.horizontal_flip.value_or(0)},
                      {"rand_augment", options.rand_augment.value_or(0)},
                      {"brightness", options.brightness.value_or(0)},
                      {"contrast", options.contrast.value_or(0)},
                      {"saturation", options.saturation.value_or(0)},
                      {"hue", options.hue.value_or(0)},
                      {"grayscale", options.grayscale.value_or(0)},
                      {"gaussian_blur", options.gaussian_blur.value_or(0)},
                      {"solarize", options.solarize.value_or(0)},
                      {"random_erasing", options.random_erasing.value_or(0)},
                      {"mixup", options.mixup.value_or(0)},
                      {"cutmix", options.cutmix.value_or(0)}};
}

}  // namespace headlight
