// Products of many pairs of matrices of equal shapes, on the tiles of kernels/panel_product.h.
#pragma once

#include <cstdint>

#include "headlight/base/compute.h"
#include "headlight/base/matrix.h"

namespace headlight::kernels {

// Matrices that lie one after another, perhaps each to be read as its transpose.
template <typename T>
struct Planes {
  T* data = nullptr;
  std::int64_t count = 0, rows = 0, columns = 0;
  bool transposed = false;
  std::int64_t apart = rows * columns;  // numbers from one matrix to the next

  Matrix<T> operator[](std::int64_t plane) const { return {data + plane * apart, rows, columns, columns}; }
  Planes Transposed() const { return {data, count, rows, columns, !transposed, apart}; }
  operator Planes<const T>() const { return {data, count, rows, columns, transposed, apart}; }
};

// c[i] = a[i] b[i] for every plane i, where a and b are read as `transposed` says; c is not transposed. T is float,
// with factors in float32 or bfloat16, or double. The results have the same bits at any thread count. Throws Error
// where the shapes do not fit.
template <typename T>
void BatchedProduct(Planes<const T> a, Planes<const T> b, Planes<T> c, Compute compute = Compute::float32);

}  // namespace headlight::kernels
