#include "headlight/cli/augment_options.h"

#include <map>

#include "headlight/base/option_checks.h"
#include "headlight/train/tasks/image_classification.h"

namespace headlight {
namespace {

const std::map<std::string, OptionValues> kAugmentations = {
    {"none", {}},
    {"light", {{"--random-resized-crop", "0.6"}, {"--horizontal-flip", "0.5"}}},
    {"standard",
     {{"--random-resized-crop", "0.35"},
      {"--horizontal-flip", "0.5"},
      {"--brightness", "0.3"},
      {"--contrast", "0.3"},
      {"--saturation", "0.3"},
      {"--random-erasing", "0.1"}}},
    // Of DeiT (Touvron et al., 2021, table 9), but for repeated pictures and a smaller least share.
    {"strong",
     {{"--random-resized-crop", "0.2"},
      {"--horizontal-flip", "0.5"},
      {"--rand-augment", "9"},
      {"--random-erasing", "0.25"},
      {"--mixup", "0.8"},
      {"--cutmix", "1"}}},
};

}  // namespace

void AddAugmentOptions(OptionTable& command, AugmentOptions& options) {
  command
      .Add("--augment", options.preset,
           "Random changes of the training pictures, new in each epoch; the options below take precedence")
      .Check(OneOf({"none", "light", "standard", "strong"}))
      .Type("none|light|standard|strong")
      .ShowDefault()
      .Group("Augmentation");
  const auto add = [&](const char* name, auto& value, const OptionCheck& check, const char* description) {
    command.Add(name, value, check, description).Group("Augmentation");
  };
  add("--random-resized-crop", options.least_share, NumberAbove(0, 1),
      "Crop a region with this share of the area, or more, to the model's size; 1: all of the picture");
  add("--random-crop", options.padding, Between(0, 1 << 15), "Shift the picture by up to N pixels, padded with black");
  add("--horizontal-flip", options.flip, NumberFrom(0, 1), "Probability of a flip");
  add("--rand-augment", options.rand_augment, Between(0, 30),
      "Two operations of RandAugment, of this magnitude; 0: none");
  add("--brightness", options.jitter.brightness, NumberFrom(0, 100), "Brighten or darken by up to this share");
  add("--contrast", options.jitter.contrast, NumberFrom(0, 100), "Change the contrast by up to this share");
  add("--saturation", options.jitter.saturation, NumberFrom(0, 100), "Change the saturation by up to this share");
  add("--hue", options.jitter.hue, NumberFrom(0, 0.5), "Shift the hue by up to this share of the colour circle");
  add("--grayscale", options.grey, NumberFrom(0, 1), "Probability of a conversion to grey");
  add("--gaussian-blur", options.blur, NumberFrom(0, 1), "Probability of a blur");
  add("--solarize", options.solarize, NumberFrom(0, 1), "Probability that bright pixels are inverted");
  add("--random-erasing", options.erasing, NumberFrom(0, 1), "Probability that a region is erased");
  add("--mixup", options.mix.mixup, NumberFrom(0, 1000),
      "Blend pairs of pictures and their classes, with weights from Beta(X, X); 0: do not");
  add("--cutmix", options.mix.cutmix, NumberFrom(0, 1000),
      "Paste regions of pictures into others, likewise; with --mixup, one of the two for each batch");
}

void CompleteAugmentOptions(const PictureTrainingOptions& training, const AugmentOptions& options) {
  SetUnlessGiven(training, kAugmentations.at(options.preset));
}

Augmentation AugmentationOf(const AugmentOptions& options, const PictureProcessor& processor) {
  Augmentation augmentation{.size = FixedSize(processor),
                            .filter = processor.filter,
                            .padding = options.padding,
                            .flip = options.flip,
                            .jitter = options.jitter,
                            .grey = options.grey,
                            .blur = options.blur,
                            .solarize = options.solarize};
  if (options.least_share < 1) augmentation.share = Range{options.least_share, 1};
  if (options.rand_augment > 0) augmentation.rand_augment = {.operations = 2, .magnitude = options.rand_augment};
  return augmentation;
}

Json DescriptionOf(const AugmentOptions& options) {
  return Json::Object{{"random_resized_crop", options.least_share},
                      {"random_crop", options.padding},
                      {"horizontal_flip", options.flip},
                      {"rand_augment", options.rand_augment},
                      {"brightness", options.jitter.brightness},
                      {"contrast", options.jitter.contrast},
                      {"saturation", options.jitter.saturation},
                      {"hue", options.jitter.hue},
                      {"grayscale", options.grey},
                      {"gaussian_blur", options.blur},
                      {"solarize", options.solarize},
                      {"random_erasing", options.erasing},
                      {"mixup", options.mix.mixup},
                      {"cutmix", options.mix.cutmix}};
}

}  // namespace headlight
