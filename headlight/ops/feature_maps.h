// Feature maps as packed rows. Images of any sizes share a batch without padding.
#pragma once

#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// A batch of feature maps.
struct FeatureMaps {
  Tensor rows;              ///< [total cells, channels]: the cells of each map in row-major order, map by map
  std::vector<Grid> grids;  ///< the size of each map
};

/// Throws Error, with a message that begins with the name of the operation, if the rows do not fit the grids.
HEADLIGHT_API void CheckMaps(const char* operation, const FeatureMaps& maps);

}  // namespace headlight::ops
