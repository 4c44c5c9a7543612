// Feature maps of images as packed rows, so that images of any sizes share a batch without padding.
#pragma once

#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

struct FeatureMaps {
  Tensor rows;              // [sum of cells, channels]: the cells of each map row by row, one map after another
  std::vector<Grid> grids;  // of each map
};

// Throws Error that begins with the operation's name where the rows are not those of the grids.
HEADLIGHT_API void CheckMaps(const char* operation, const FeatureMaps& maps);

}  // namespace headlight::ops
