#include "headlight/image/augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/image/color.h"

namespace headlight {
namespace {

double Between(Range range, Random& random) { return range.least + (range.most - range.least) * random.Uniform(); }

std::int64_t Below(std::int64_t limit, Random& random) {
  return static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(limit)));
}

// Always consumes a random number, so later random numbers do not depend on the probability.
bool Chance(double probability, Random& random) { return random.Uniform() < probability; }

}  // namespace

Image JitterColors(const Image& image, const ColorJitter& jitter, Random& random) {
  std::array<int, 4> order = {0, 1, 2, 3};
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.Below(left)]);
  const auto factor = [&](double strength) { return Between({std::max(0.0, 1 - strength), 1 + strength}, random); };
  const double brightness = factor(jitter.brightness), contrast = factor(jitter.contrast);
  const double saturation = factor(jitter.saturation), hue = Between({-jitter.hue, jitter.hue}, random);
  Image changed = image;
  for (const int change : order) {
    if (change == 0 && jitter.brightness > 0) changed = AdjustBrightness(changed, brightness);
    if (change == 1 && jitter.contrast > 0) changed = AdjustContrast(changed, contrast);
    if (change == 2 && jitter.saturation > 0) changed = AdjustSaturation(changed, saturation);
    if (change == 3 && jitter.hue > 0) changed = AdjustHue(changed, hue);
  }
  return changed;
}

Image RandAugment(const Image& image, const RandAugmentOptions& options, Random& random) {
  constexpr int most = 30;
  Check(options.operations >= 0 && options.magnitude >= 0 && options.magnitude <= most,
        "RandAugment needs 0 or more operations of magnitude 0 to {}, not {} of {}", most, options.operations,
        options.magnitude);
  const double strength = static_cast<double>(options.magnitude) / most;
  const auto shift = [&](std::int64_t side) {
    return static_cast<std::int64_t>(strength * 150.0 / 331.0 * static_cast<double>(side));
  };
  Image changed = image;
  for (int i = 0; i < options.operations; ++i) {
    const std::uint64_t operation = random.Below(14);
    const int sign = random.Below(2) == 0 ? 1 : -1;
    switch (operation) {
      case 0:
        break;
      case 1:
        changed = ShearX(changed, sign * 0.3 * strength);
        break;
      case 2:
        changed = ShearY(changed, sign * 0.3 * strength);
        break;
      case 3:
        changed = Translate(changed, sign * shift(changed.width), 0);
        break;
      case 4:
        changed = Translate(changed, 0, sign * shift(changed.height));
        break;
      case 5:
        changed = Rotate(changed, sign * 30 * strength);
        break;
      case 6:
        changed = AdjustBrightness(changed, 1 + sign * 0.9 * strength);
        break;
      case 7:
        changed = AdjustSaturation(changed, 1 + sign * 0.9 * strength);
        break;
      case 8:
        changed = AdjustContrast(changed, 1 + sign * 0.9 * strength);
        break;
      case 9:
        changed = AdjustSharpness(changed, 1 + sign * 0.9 * strength);
        break;
      case 10:
        changed = Posterize(changed, 8 - static_cast<int>(std::nearbyint(4 * strength)));
        break;
      case 11:
        changed = Solarize(changed, 255 * (1 - strength));
        break;
      case 12:
        changed = AutoContrast(changed);
        break;
      default:
        changed = Equalize(changed);
    }
  }
  return changed;
}

Image Augment(const Image& image, const Augmentation& augmentation, Random& random) {
  const ImageSize size = augmentation.size;
  Image changed;
  if (augmentation.share) {
    const Region region = RandomRegion({image.height, image.width}, *augmentation.share, random);
    changed = Resize(Crop(image, region), size.height, size.width, augmentation.filter);
  } else {
    changed = Resize(image, size.height, size.width, augmentation.filter);
  }
  if (const std::int64_t padding = augmentation.padding; padding > 0) {
    const std::int64_t top = Below(2 * padding + 1, random) - padding, left = Below(2 * padding + 1, random) - padding;
    changed = Crop(changed, {top, left, size.height, size.width});
  }
  if (Chance(augmentation.flip, random)) changed = FlipHorizontally(changed);
  if (augmentation.rand_augment) changed = RandAugment(changed, *augmentation.rand_augment, random);
  if (Chance(augmentation.jitter_probability, random)) changed = JitterColors(changed, augmentation.jitter, random);
  if (Chance(augmentation.gray, random)) changed = Gray(changed);
  if (Chance(augmentation.blur, random)) {
    const int kernel = std::max(3, static_cast<int>(size.width / 10) | 1);
    changed = GaussianBlur(changed, kernel, Between(augmentation.blur_deviation, random));
  }
  if (Chance(augmentation.solarize, random)) changed = Solarize(changed, 128);
  return changed;
}

std::vector<Image> RandomCrops(const Image& image, const MultiCrop& crops, Random& random) {
  Augmentation view{.size = {crops.global_size, crops.global_size},
                    .filter = ResizeFilter::bicubic,
                    .share = crops.global_share,
                    .flip = 0.5,
                    .jitter = {0.4, 0.4, 0.2, 0.1},
                    .jitter_probability = 0.8,
                    .gray = 0.2,
                    .blur = 1};
  std::vector<Image> views = {Augment(image, view, random)};
  view.blur = 0.1;
  view.solarize = 0.2;
  views.push_back(Augment(image, view, random));
  view.size = {crops.local_size, crops.local_size};
  view.share = crops.local_share;
  view.blur = 0.5;
  view.solarize = 0;
  for (int i = 0; i < crops.locals; ++i) views.push_back(Augment(image, view, random));
  return views;
}

}  // namespace headlight
