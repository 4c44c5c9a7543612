// Pooling and resizing of feature maps.
#pragma once

#include <vector>

#include "headlight/base/export.h"
#include "headlight/ops/feature_maps.h"

namespace headlight::ops {

/// The window, stride and padding of a pooling, in cells. Windows that exceed the padded map are left out.
struct PoolingShape {
  Grid window = {2, 2}, stride = {2, 2}, padding = {0, 0};
};

/// The maximum of each channel over each window; padding is -infinity. NaN gives NaN. The gradient goes to the first of
/// equal maxima. Throw Error for impossible windows, such as windows that may contain only padding, and for a map
/// smaller than the window.
HEADLIGHT_API FeatureMaps MaxPool(const FeatureMaps& x, const PoolingShape& shape);

/// The mean over each window. Padding counts as 0, as in PyTorch.
HEADLIGHT_API FeatureMaps AveragePool(const FeatureMaps& x, const PoolingShape& shape);

/// The mean of each map: [maps, channels].
HEADLIGHT_API Tensor MeanOfMaps(const FeatureMaps& x);

/// Nearest-neighbour resizing to other grids: cell j of m is cell floor(j * n / m) of n, on both axes.
HEADLIGHT_API FeatureMaps NearestResize(const FeatureMaps& x, const std::vector<Grid>& grids);

/// The same with twice the height and width.
HEADLIGHT_API FeatureMaps NearestDouble(const FeatureMaps& x);

}  // namespace headlight::ops
