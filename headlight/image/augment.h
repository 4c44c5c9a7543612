// Augments training images. All functions are deterministic given the image and the random stream (RandomOfExample in
// data/batches.h), so training can be reproduced and resumed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/image/crop.h"
#include "headlight/image/image.h"
#include "headlight/image/processor.h"
#include "headlight/image/resize.h"

namespace headlight {

/// The options of torchvision's ColorJitter. For a value x, brightness, contrast and saturation are multiplied by a
/// factor from 1 - x to 1 + x. The hue is shifted by -x to x. The order is random.
struct ColorJitter {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;
};
HEADLIGHT_API Image JitterColors(const Image& image, const ColorJitter& jitter, Random& random);

/// The options of RandAugment (Cubuk et al., "RandAugment: Practical automated data augmentation with a reduced search
/// space", 2020). RandAugment applies `operations` random operations with a magnitude from 0 to 30. The fourteen
/// operations and their strengths are taken from torchvision.
struct RandAugmentOptions {
  int operations = 2, magnitude = 9;
};
HEADLIGHT_API Image RandAugment(const Image& image, const RandAugmentOptions& options, Random& random);

/// The augmentation steps, in this order. The result is an image of a fixed size.
struct Augmentation {
  ImageSize size = {224, 224};
  ResizeFilter filter = ResizeFilter::bilinear;
  /// The range of the area of a random crop relative to the image's area (RandomRegion). If it is empty, the image is
  /// not cropped.
  std::optional<Range> share = {};
  std::int64_t padding = 0;  // the black border in pixels that is added after resizing, before a random crop to `size`
  /// The probability of each change.
  double flip = 0;
  std::optional<RandAugmentOptions> rand_augment = {};
  ColorJitter jitter = {};
  double jitter_probability = 1, gray = 0, blur = 0, solarize = 0;
  /// The standard deviation of the Gaussian blur in pixels. The kernel size is a tenth of the width (Chen et al., "A
  /// Simple Framework for Contrastive Learning of Visual Representations", 2020, appendix A).
  Range blur_deviation = {0.1, 2};
};
HEADLIGHT_API Image Augment(const Image& image, const Augmentation& augmentation, Random& random);

/// The options of multi-crop for self-distillation (Caron et al., "Emerging Properties in Self-Supervised Vision
/// Transformers", 2021). An image has two global crops and several local crops, with the augmentation of DINO's
/// original code.
struct MultiCrop {
  std::int64_t global_size = 224, local_size = 96;  // side lengths in pixels
  int locals = 8;
  Range global_share = {0.4, 1}, local_share = {0.05, 0.4};  // the area relative to the image's area
};
/// Returns the crops. The first two are the global crops.
HEADLIGHT_API std::vector<Image> RandomCrops(const Image& image, const MultiCrop& crops, Random& random);

}  // namespace headlight
