// Normalization of feature maps with statistics per channel.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/ops/feature_maps.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// The result of BatchNorm: y = (x - mean) / sqrt(variance + epsilon) * gain + bias, with the mean and variance of each
/// channel over all rows (Ioffe and Szegedy, "Batch Normalization", 2015). x is [rows, channels], and gain and bias are
/// [channels].
struct BatchNormalized {
  Tensor y;               ///< has the shape of x
  Tensor mean, variance;  ///< [channels], over the rows of x; the variance is biased; without gradient
};
/// Applies batch normalization. Throws Error if shapes do not fit or there are no rows.
HEADLIGHT_API BatchNormalized BatchNorm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon = 1e-5);

/// Applies group normalization (Wu and He, "Group Normalization", 2018). The mean and variance of each map are computed
/// over its cells and a group of adjacent channels. Throws Error if shapes do not fit or `groups` does not divide the
/// channels.
HEADLIGHT_API Tensor GroupNorm(const FeatureMaps& x, std::int64_t groups, const Tensor& gain, const Tensor& bias,
                               double epsilon = 1e-5);

}  // namespace headlight::ops
