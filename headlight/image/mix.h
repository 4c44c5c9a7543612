// Random changes of the values of images, after they are normalized: regions erased, images mixed.
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/image/crop.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// Random erasing (Zhong et al., "Random Erasing Data Augmentation", 2020) with torchvision's defaults: with this
// probability a region with 2% to 33% of the area of values [height, width, channels] becomes 0, the mean.
HEADLIGHT_API void EraseAtRandom(const Tensor& values, double probability, Random& random);

// Mixes each image of a batch with the one before it, and their classes alike: by weighted sums (mixup; Zhang et al.,
// 2018) or by regions (CutMix; Yun et al., 2019). The share of each follows Beta(alpha, alpha); 0: not so. Where both
// are asked for, one is drawn for each batch.
struct MixOptions {
  double mixup = 0, cutmix = 0;
};
// values [images, height, width, channels], targets [images, classes].
HEADLIGHT_API void Mix(const Tensor& values, const Tensor& targets, const MixOptions& options, Random& random);
// Mix with what it draws: the share of the image itself, and the region of the other's.
HEADLIGHT_API void Mixup(const Tensor& values, const Tensor& targets, double share);
HEADLIGHT_API void CutMix(const Tensor& values, const Tensor& targets, const Region& region);

}  // namespace headlight
