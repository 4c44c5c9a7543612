// Dot products of many rows with one vector, for similarity search.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Computes products[row] = the dot product of the row and `vector`. Rows are read once, in order. T is float or
/// double.
template <typename T>
void DotRows(Matrix<const T> rows, const T* vector, T* products);

}  // namespace headlight::kernels
