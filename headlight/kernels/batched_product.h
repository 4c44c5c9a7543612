// Products of many pairs of matrices of equal shapes, using the tiles of kernels/panel_product.h.
#pragma once

#include <cstdint>

#include "headlight/base/compute.h"
#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Adjacent matrices of equal shapes. If `transposed` is true, the transposes of the matrices are used.
template <typename T>
struct Planes {
  T* data = nullptr;
  std::int64_t count = 0, rows = 0, columns = 0;
  bool transposed = false;
  std::int64_t apart = rows * columns;  ///< distance between matrices in elements

  Matrix<T> operator[](std::int64_t plane) const { return {data + plane * apart, rows, columns, columns}; }
  Planes Transposed() const { return {data, count, rows, columns, !transposed, apart}; }
  operator Planes<const T>() const { return {data, count, rows, columns, transposed, apart}; }
};

/// Computes c[i] = a[i] b[i] for every plane i. a and b are transposed if `transposed` is set; c must not be
/// transposed. T is double, or float with operands rounded to float32 or bfloat16. The result has the same bits for any
/// number of threads. Throws Error if shapes do not fit.
template <typename T>
void BatchedProduct(Planes<const T> a, Planes<const T> b, Planes<T> c, Compute compute = Compute::float32);

}  // namespace headlight::kernels
