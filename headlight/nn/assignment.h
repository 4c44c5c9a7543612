// Minimum-cost assignment of rows to columns.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight {

/// Solves the rectangular linear assignment problem. Returns the column of each row, or -1. Assigns min(rows, columns)
/// pairs with distinct columns and the lowest total cost. Ties are always broken in the same way. Costs must be finite.
/// Uses shortest augmenting paths (Crouse, "On implementing 2D rectangular assignment algorithms", 2016), in
/// O(min(rows, columns)^2 max(rows, columns)) time.
HEADLIGHT_API std::vector<std::int32_t> Assign(Matrix<const double> costs);

}  // namespace headlight
