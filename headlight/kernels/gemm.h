// Matrix products. float32 runs on oneDNN, double on plain loops (oneDNN has none; only checks of gradients
// need it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight::kernels {

// What the factors of a float32 product are rounded to before they are multiplied. Sums are float32, and exact for
// int8: there each row of the left side and each column of the right has a scale, the largest of it over 127. int8 is
// for models that learn no more.
enum class Compute { float32, bfloat16, int8 };

HEADLIGHT_API const char* Name(Compute compute);

// Whether this processor has instructions for it.
HEADLIGHT_API bool CpuHas(Compute compute);

// The right-hand side B of a product, in the order the arithmetic wants it: panels of columns, each packed by oneDNN
// or, for int8, by us.
template <typename T>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // Not yet filled.
  PackedMatrix(std::int64_t rows, std::int64_t columns, Compute compute = Compute::float32);

  // Packs B = source, or B = source^T where `transposed`; the shape must be this one's.
  void Pack(Matrix<const T> source, bool transposed);
  // Packs B^T = values * scales, for int8: values [columns, rows], a scale for each of its rows.
  void PackQuantized(Matrix<const std::int8_t> values, const float* scales);
  // Writes column `index` of B, as it is rounded: rows() numbers. For int8.
  void Column(std::int64_t index, T* to) const;

  std::int64_t rows() const { return rows_; }        // the depth of the product
  std::int64_t columns() const { return columns_; }  // of the result
  Compute compute() const { return compute_; }       // of every product with it
  std::size_t bytes() const { return bytes_; }

  struct Panel {
    std::int64_t begin = 0, columns = 0;
    std::byte* data = nullptr;
  };
  const std::vector<Panel>& panels() const { return panels_; }
  // Whether the panels, one after another, are also the packed form of the whole.
  bool whole() const { return whole_; }

 private:
  std::int64_t rows_ = 0, columns_ = 0;
  Compute compute_ = Compute::float32;
  std::size_t bytes_ = 0;
  bool whole_ = false;
  std::vector<Panel> panels_;
  std::shared_ptr<std::byte> data_;
};

// c = a b + bias, its negative elements 0 where `relu`, or c += a b where `accumulate` (then without bias and relu).
// a [rows, depth], b [depth, columns], c [rows, columns], bias [columns] or null. The result of a row does not depend,
// to the last bit, on how many rows there are, nor on the number of threads.
template <typename T>
void Gemm(Matrix<const T> a, const PackedMatrix<T>& b, Matrix<T> c, const T* bias = nullptr, bool relu = false,
          bool accumulate = false);

// c += a^T b: a [rows, m], b [rows, n], c [m, n]. The gradient of a weight, summed over the rows in a fixed order.
template <typename T>
void GemmTransposed(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Compute compute = Compute::float32);

// How many oneDNN primitives have been created: constant once every shape has been seen.
HEADLIGHT_API std::int64_t PrimitivesCreated();

}  // namespace headlight::kernels
