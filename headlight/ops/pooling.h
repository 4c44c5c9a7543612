// Pooling of feature maps, and its reverse.
#pragma once

#include <vector>

#include "headlight/base/export.h"
#include "headlight/ops/feature_maps.h"

namespace headlight::ops {

// Windows of a map: as many cells, so far apart, with so many cells around the map. A window that does not lie in the
// map and its padding is left out.
struct PoolingShape {
  Grid window = {2, 2}, stride = {2, 2}, padding = {0, 0};
};

// The largest number of each channel in each window; cells of the padding are -infinity. NaN gives NaN. The gradient
// goes to the first of equals. Throw Error for windows that cannot be, such as ones with padding alone, and for a map
// into which none fits.
HEADLIGHT_API FeatureMaps MaxPool(const FeatureMaps& x, const PoolingShape& shape);

// The mean over each window; cells of the padding count as 0, as in PyTorch.
HEADLIGHT_API FeatureMaps AveragePool(const FeatureMaps& x, const PoolingShape& shape);

// The mean of each map: [maps, channels].
HEADLIGHT_API Tensor MeanOfMaps(const FeatureMaps& x);

// Maps of other sizes, each cell that of the nearest place: cell i of n becomes those j of m with floor(j * n / m) = i.
HEADLIGHT_API FeatureMaps NearestResize(const FeatureMaps& x, const std::vector<Grid>& grids);

// The same twice as high and wide.
HEADLIGHT_API FeatureMaps NearestDouble(const FeatureMaps& x);

}  // namespace headlight::ops
