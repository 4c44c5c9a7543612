#include "headlight/cli/augment_options.h"

#include <map>
#include <type_traits>

#include "headlight/cli/checks.h"
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

void AddAugmentOptions(CLI::App& command, AugmentOptions& options) {
  const auto grouped = [](CLI::Option* option, const char* type) {
    return option->type_name(type)->capture_default_str()->group("Augmentation");
  };
  grouped(command
              .add_option("--augment", options.preset,
                          "Changes of the pictures that are learned from, new ones in each epoch; those below take "
                          "precedence")
              ->check(OneOf({"none", "light", "standard", "strong"})),
          "none|light|standard|strong");
  const auto add = [&](const char* name, auto& value, const CLI::Validator& check, const char* description) {
    const char* const type = std::is_floating_point_v<std::remove_reference_t<decltype(value)>> ? "X" : "N";
    grouped(command.add_option(name, value, description)->check(check), type)->default_str("");
  };
  add("--random-resized-crop", options.least_share, NumberAbove(0, 1),
      "Crop a region with this share of the area, or more, to the model's size; 1: all of the picture");
  add("--random-crop", options.padding, Between(0, 1 << 15),
      "Move the picture by up to N pixels, with black where it was not");
  add("--horizontal-flip", options.flip, NumberFrom(0, 1), "Probability of a flip");
  add("--rand-augment", options.rand_augment, Between(0, 30),
      "Two operations of RandAugment, of this magnitude; 0: none");
  add("--brightness", options.jitter.brightness, NumberFrom(0, 100), "Brighten or darken by up to this share");
  add("--contrast", options.jitter.contrast, NumberFrom(0, 100), "Change the contrast by up to this share");
  add("--saturation", options.jitter.saturation, NumberFrom(0, 100), "Change the saturation by up to this share");
  add("--hue", options.jitter.hue, NumberFrom(0, 0.5), "Turn the hue by up to this share of the circle");
  add("--grayscale", options.grey, NumberFrom(0, 1), "Probability that colours are lost");
  add("--gaussian-blur", options.blur, NumberFrom(0, 1), "Probability of a blur");
  add("--solarize", options.solarize, NumberFrom(0, 1), "Probability that bright pixels are inverted");
  add("--random-erasing", options.erasing, NumberFrom(0, 1), "Probability that a region is erased");
  add("--mixup", options.mix.mixup, NumberFrom(0, 1000),
      "Blend pictures and their classes, with shares of Beta(X, X); 0: do not");
  add("--cutmix", options.mix.cutmix, NumberFrom(0, 1000),
      "Put regions of pictures into others, likewise; with --mixup, one of both for each batch");
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
