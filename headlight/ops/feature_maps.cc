#include "headlight/ops/feature_maps.h"

#include "headlight/base/error.h"

namespace headlight::ops {

void CheckMaps(const char* operation, const FeatureMaps& maps) {
  std::int64_t cells = 0;
  for (const Grid& grid : maps.grids) cells += grid.cells();
  Check(maps.rows.shape().rank() == 2 && maps.rows.shape()[0] == cells,
        "{}: {} maps of {} cells in total do not fit rows of shape {}", operation, maps.grids.size(), cells,
        ToString(maps.rows.shape()));
}

}  // namespace headlight::ops
