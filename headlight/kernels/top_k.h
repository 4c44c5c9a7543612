// The greatest elements of rows, for decoding.
#pragma once

#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// The k greatest of every row in descending order, and their columns; k = values.columns = columns.columns, from 1 to
// x.columns. Of equals the lower column comes first. NaN ranks above every number, so that a broken row shows.
template <typename T>
void TopKRows(Matrix<const T> x, Matrix<T> values, Matrix<std::int32_t> columns);

}  // namespace headlight::kernels
