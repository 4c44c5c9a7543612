// Maxima over windows of feature maps.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Row i of y becomes the maximum of each column of x over the rows listed in rows[begin[i]] to rows[begin[i + 1]],
/// without the last. The list must not be empty. The maximum is NaN if an element is NaN. If `which` has data, it
/// receives the row of x of each maximum, the first if several are equal.
template <typename T>
void LargestOfRows(Matrix<const T> x, std::span<const std::int32_t> rows, std::span<const std::int32_t> begin,
                   Matrix<T> y, Matrix<std::int32_t> which);

}  // namespace headlight::kernels
