// Randomly changes normalized image values: random erasing, mixup and CutMix.
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/image/crop.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// Applies random erasing (Zhong et al., "Random Erasing Data Augmentation", 2020) with torchvision's defaults. With
/// this probability, sets a region of values [height, width, channels] to 0, the mean. The region has 2% to 33% of the
/// area.
HEADLIGHT_API void EraseAtRandom(const Tensor& values, double probability, Random& random);

/// The options for mixing each image of a batch and its class with the previous image. mixup (Zhang et al., 2018)
/// computes weighted sums, and CutMix (Yun et al., 2019) replaces regions. Shares are sampled from Beta(alpha, alpha)
/// with the given alpha. An alpha of 0 disables a method. If both are enabled, a random method is used for each batch.
struct MixOptions {
  double mixup = 0, cutmix = 0;
};
/// Mixes values [images, height, width, channels] and targets [images, classes] in place.
HEADLIGHT_API void Mix(const Tensor& values, const Tensor& targets, const MixOptions& options, Random& random);
/// Apply only one method. `share` is the weight of each image, and `region` is the region that is replaced by the
/// previous image.
HEADLIGHT_API void Mixup(const Tensor& values, const Tensor& targets, double share);
HEADLIGHT_API void CutMix(const Tensor& values, const Tensor& targets, const Region& region);

}  // namespace headlight
