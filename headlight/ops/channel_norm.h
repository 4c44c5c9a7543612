// Norms of feature maps, whose statistics are those of channels over places.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/ops/feature_maps.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// y = (x - mean) / sqrt(variance + epsilon) * gain + bias, with the mean and the variance of each channel over all rows
// (Ioffe and Szegedy, "Batch Normalization", 2015). x [rows, channels], gain and bias [channels].
struct BatchNormalized {
  Tensor y;               // the shape of x
  Tensor mean, variance;  // [channels], of these rows; the variance divided by their number; without gradient
};
// Throws Error where shapes do not fit or there are no rows.
HEADLIGHT_API BatchNormalized BatchNorm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon = 1e-5);

// The same with the mean and the variance of each map over its cells and the channels of a group, which are adjacent
// (Wu and He, "Group Normalization", 2018). Throws Error where shapes do not fit or the groups do not divide the
// channels.
HEADLIGHT_API Tensor GroupNorm(const FeatureMaps& x, std::int64_t groups, const Tensor& gain, const Tensor& bias,
                               double epsilon = 1e-5);

}  // namespace headlight::ops
