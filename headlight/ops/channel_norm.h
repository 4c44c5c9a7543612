// Norms of feature maps with statistics per channel.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/ops/feature_maps.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// y = (x - mean) / sqrt(variance + epsilon) * gain + bias, with the mean and variance of each channel over all rows
/// (Ioffe and Szegedy, "Batch Normalization", 2015). x is [rows, channels], gain and bias [channels].
struct BatchNormalized {
  Tensor y;               ///< the shape of x
  Tensor mean, variance;  ///< [channels], of these rows; the biased variance; without gradient
};
/// Throws Error if shapes do not fit or there are no rows.
HEADLIGHT_API BatchNormalized BatchNorm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon = 1e-5);

/// The same with the mean and variance of each map over its cells and a group of adjacent channels (Wu and He, "Group
/// Normalization", 2018). Throws Error if shapes do not fit or `groups` does not divide the channels.
HEADLIGHT_API Tensor GroupNorm(const FeatureMaps& x, std::int64_t groups, const Tensor& gain, const Tensor& bias,
                               double epsilon = 1e-5);

}  // namespace headlight::ops
