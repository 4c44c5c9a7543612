// Pooling and resizing of feature maps.
#pragma once

#include <vector>

#include "headlight/base/export.h"
#include "headlight/ops/feature_maps.h"

namespace headlight::ops {

/// The window, stride and padding of a pooling operation, in cells. Windows that exceed the padded map are omitted.
struct PoolingShape {
  Grid window = {2, 2}, stride = {2, 2}, padding = {0, 0};
};

/// Returns the maximum of each channel over each window. Padding is -infinity. The maximum of a window with NaN is NaN.
/// If several elements are the maximum, the first receives the gradient. Throws Error for impossible windows, such as
/// windows that may contain only padding, and for a map smaller than the window.
HEADLIGHT_API FeatureMaps MaxPool(const FeatureMaps& x, const PoolingShape& shape);

/// Returns the mean over each window. Padding counts as 0, as in PyTorch.
HEADLIGHT_API FeatureMaps AveragePool(const FeatureMaps& x, const PoolingShape& shape);

/// Returns the mean of each map: [maps, channels].
HEADLIGHT_API Tensor MeanOfMaps(const FeatureMaps& x);

/// Resizes maps to other grids by nearest-neighbor interpolation. On both axes, cell j of m new cells is cell floor(j
/// * n / m) of n old cells.
HEADLIGHT_API FeatureMaps NearestResize(const FeatureMaps& x, const std::vector<Grid>& grids);

/// Doubles the height and width of maps by nearest-neighbor interpolation.
HEADLIGHT_API FeatureMaps NearestDouble(const FeatureMaps& x);

}  // namespace headlight::ops
