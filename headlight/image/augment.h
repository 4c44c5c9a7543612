// Augmentation of training images. All functions depend only on the
// image and the random stream (data/batches.h, RandomOfExample): a training can be repeated and resumed.
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

// Torchvision's ColorJitter: brightness, contrast and saturation by a factor of 1 - x to 1 + x, the hue by a turn of -x
// to x, one after another in an order that is drawn too.
struct ColourJitter {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;
};
HEADLIGHT_API Image JitterColours(const Image& image, const ColourJitter& jitter, Random& random);

// RandAugment (Cubuk et al., "RandAugment: Practical automated data augmentation with a reduced search space", 2020),
// with torchvision's fourteen operations and strengths: `operations` of them one after another, of magnitude 0 to 30.
struct RandAugmentOptions {
  int operations = 2, magnitude = 9;
};
HEADLIGHT_API Image RandAugment(const Image& image, const RandAugmentOptions& options, Random& random);

// From an image to one of a size, in this order.
struct Augmentation {
  ImageSize size = {224, 224};
  ResizeFilter filter = ResizeFilter::bilinear;
  // A random region with a share of the area within these bounds (RandomRegion); where it is not given, all of the
  // image.
  std::optional<Range> share = {};
  std::int64_t padding = 0;  // black on all sides after resizing, of which a random region of `size` remains
  // Probabilities of each change.
  double flip = 0;
  std::optional<RandAugmentOptions> rand_augment = {};
  ColourJitter jitter = {};
  double jitter_probability = 1, grey = 0, blur = 0, solarize = 0;
  // Of the Gaussian, whose kernel is a tenth of the width (Chen et al., "A Simple Framework for Contrastive Learning
  // of Visual Representations", 2020, appendix A), in pixels.
  Range blur_deviation = {0.1, 2};
};
HEADLIGHT_API Image Augment(const Image& image, const Augmentation& augmentation, Random& random);

// The views of one image that self-distillation compares (Caron et al., "Emerging Properties in Self-Supervised
// Vision Transformers", 2021): two large crops and several small ones, changed as DINO's original code does it.
struct MultiCrop {
  std::int64_t global_size = 224, local_size = 96;  // pixels of a side
  int locals = 8;
  Range global_share = {0.4, 1}, local_share = {0.05, 0.4};  // of the image's area
};
// The two global ones first.
HEADLIGHT_API std::vector<Image> RandomCrops(const Image& image, const MultiCrop& crops, Random& random);

}  // namespace headlight
