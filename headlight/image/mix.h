// Random changes of normalized image values: random erasing, and mixing images.
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/image/crop.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// Random erasing (Zhong et al., "Random Erasing Data Augmentation", 2020) with torchvision's defaults: with this
/// probability, a region with 2% to 33% of the area of values [height, width, channels] is set to 0, the mean.
HEADLIGHT_API void EraseAtRandom(const Tensor& values, double probability, Random& random);

/// Mixes each image of a batch and its class with the previous one: by weighted sums (mixup; Zhang et al., 2018), or by
/// regions (CutMix; Yun et al., 2019). Shares are distributed as Beta(alpha, alpha); 0: disabled. If both are enabled,
/// one is chosen at random for each batch.
struct MixOptions {
  double mixup = 0, cutmix = 0;
};
/// Modifies values [images, height, width, channels] and targets [images, classes].
HEADLIGHT_API void Mix(const Tensor& values, const Tensor& targets, const MixOptions& options, Random& random);
/// The steps of Mix, given the image's own share, and the region taken from the other image.
HEADLIGHT_API void Mixup(const Tensor& values, const Tensor& targets, double share);
HEADLIGHT_API void CutMix(const Tensor& values, const Tensor& targets, const Region& region);

}  // namespace headlight
