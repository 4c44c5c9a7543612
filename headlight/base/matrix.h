// A view of the rows of a matrix, for kernels. Each row is contiguous.
#pragma once

#include <cstdint>

namespace headlight {

template <typename T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0, columns = 0;
  std::int64_t stride = 0;  ///< elements from one row to the next, at least `columns`

  T* row(std::int64_t index) const { return data + index * stride; }
  /// Returns a view of `count` columns starting at `begin`, such as the keys in a fused query-key-value projection.
  Matrix Columns(std::int64_t begin, std::int64_t count) const { return {data + begin, rows, count, stride}; }
  Matrix Rows(std::int64_t begin, std::int64_t count) const { return {row(begin), count, columns, stride}; }
  operator Matrix<const T>() const { return {data, rows, columns, stride}; }
};

}  // namespace headlight
