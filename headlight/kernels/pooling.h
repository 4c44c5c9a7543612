// Maxima over windows of feature maps.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// Row i of y is the largest of each column among rows[begin[i]] up to rows[begin[i + 1]] of x, at least one: NaN where
// one of them is. Where `which` has data, it gets the row of x that each number came from, the first of equals.
template <typename T>
void LargestOfRows(Matrix<const T> x, std::span<const std::int32_t> rows, std::span<const std::int32_t> begin,
                   Matrix<T> y, Matrix<std::int32_t> which);

}  // namespace headlight::kernels
