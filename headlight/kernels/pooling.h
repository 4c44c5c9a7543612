// Maxima over windows of feature maps.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Row i of y is the maximum of each column over rows[begin[i]] to rows[begin[i + 1]] (exclusive, not empty) of x. It
/// is NaN if one of them is NaN. If `which` has data, it receives the row of x of each maximum, the first if several
/// are equal.
template <typename T>
void LargestOfRows(Matrix<const T> x, std::span<const std::int32_t> rows, std::span<const std::int32_t> begin,
                   Matrix<T> y, Matrix<std::int32_t> which);

}  // namespace headlight::kernels
