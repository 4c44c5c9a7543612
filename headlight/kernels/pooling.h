// Maxima over windows of feature maps.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Computes the maximum of each column of x over the rows of a window. Row i of y uses the rows of x that are listed in
/// rows[begin[i]] to rows[begin[i + 1]] (exclusive, not empty). The maximum is NaN if an element is NaN. If `which` has
/// data, it receives the row of x of each maximum. If several elements are equal, this is the first row.
template <typename T>
void LargestOfRows(Matrix<const T> x, std::span<const std::int32_t> rows, std::span<const std::int32_t> begin,
                   Matrix<T> y, Matrix<std::int32_t> which);

}  // namespace headlight::kernels
