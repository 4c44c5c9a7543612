#include "headlight/kernels/inverse.h"

#include <algorithm>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/kernels/gemm.h"

namespace headlight::kernels {
namespace {

constexpr std::int64_t kBlock = 64;

// Inverts a small block [n, n] in place by Gauss-Jordan elimination. The block is positive definite, so it needs no
// pivoting.
void InvertBlock(std::vector<double>& block, std::int64_t n) {
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return block[static_cast<std::size_t>(i * n + j)]; };
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot = at(k, k);
    Check(pivot > 0, "a matrix to invert is not positive definite");
    at(k, k) = 1;
    for (std::int64_t j = 0; j < n; ++j) at(k, j) /= pivot;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = at(i, k);
      at(i, k) = 0;
      for (std::int64_t j = 0; j < n; ++j) at(i, j) -= factor * at(k, j);
    }
  }
}

}  // namespace

// Inverts the matrix by Gauss-Jordan elimination in blocks. Let P be the inverse of the pivot block, and R be P times
// the pivot's rows. Let E be the elements of another row in the block columns. E R is subtracted from this row, and E
// is replaced by -E P.
void InvertPositive(Matrix<float> a) {
  const std::int64_t n = a.rows;
  Check(a.columns == n, "a matrix of {} x {} is not square and has no inverse", n, a.columns);
  std::vector<float> negative(static_cast<std::size_t>(n * kBlock)), rows(static_cast<std::size_t>(n * kBlock));
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t count = std::min(kBlock, n - first);
    std::vector<double> pivot;
    for (std::int64_t i = first; i < first + count; ++i)
      pivot.insert(pivot.end(), a.row(i) + first, a.row(i) + first + count);
    InvertBlock(pivot, count);
    const std::vector<float> inverse(pivot.begin(), pivot.end());

    for (std::int64_t i = 0; i < n; ++i) {
      const bool within = i >= first && i < first + count;
      for (std::int64_t j = 0; j < count; ++j) {
        float& element = a.row(i)[first + j];
        negative[static_cast<std::size_t>(i * count + j)] = within ? 0 : -element;
        element = within && i == first + j ? 1.0F : 0.0F;
      }
    }
    const Matrix<float> pivots_rows = {a.row(first), count, n, a.stride}, made = {rows.data(), count, n, n};
    PackedMatrix<float> packed(count, n);
    packed.Pack({pivots_rows.data, count, n, a.stride}, /*transposed=*/false);
    Gemm<float>({inverse.data(), count, count, count}, packed, made);
    packed.Pack({made.data, count, n, n}, /*transposed=*/false);
    Gemm<float>({negative.data(), n, count, count}, packed, a, nullptr, Activation::none, /*accumulate=*/true);
    for (std::int64_t i = 0; i < count; ++i) std::copy_n(made.row(i), n, a.row(first + i));
  }
}

}  // namespace headlight::kernels
