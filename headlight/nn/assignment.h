// The assignment of rows to columns of least total cost.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight {

// For each row of `costs` its column, or -1: as many rows as can be have a column of their own, min(rows, columns) of
// them, and the sum of their costs is the least. Of several such assignments the result is always the same one. By
// shortest augmenting paths (Crouse, "On implementing 2D rectangular assignment algorithms", 2016), in time
// O(min(rows, columns)^2 max(rows, columns)). Costs are finite.
HEADLIGHT_API std::vector<std::int32_t> Assign(Matrix<const double> costs);

}  // namespace headlight
