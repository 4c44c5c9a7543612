// Products of many rows with one vector, as a search by similarity takes them.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// products[row] = the dot product of the row and `vector`, which has as many elements as a row. Rows are read once, in
// their order. T is float or double.
template <typename T>
void DotRows(Matrix<const T> rows, const T* vector, T* products);

}  // namespace headlight::kernels
