#include "headlight/kernels/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/transpose.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cstdint>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The side length of a block that is transposed in the cache, so that y's cache lines are written whole. Without
// blocks, half a line would be evicted before the other half is written if y's rows are powers of two apart.
constexpr std::int64_t kTransposedBlock = 64;

// Computes buffer[column][row] = x[row][column], for at most kTransposedBlock x kTransposedBlock elements.
template <typename T>
HWY_INLINE void TransposeInto(Matrix<const T> x, T (*buffer)[kTransposedBlock]) {
  std::int64_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {  // blocks of 4 x 4: only float must be fast
    const hn::FixedTag<T, 4> d;
    const hn::Repartition<double, decltype(d)> pairs;
    for (; row + 4 <= x.rows; row += 4) {
      std::int64_t column = 0;
      for (; column + 4 <= x.columns; column += 4) {
        const auto row0 = hn::LoadU(d, x.row(row) + column), row1 = hn::LoadU(d, x.row(row + 1) + column);
        const auto row2 = hn::LoadU(d, x.row(row + 2) + column), row3 = hn::LoadU(d, x.row(row + 3) + column);
        const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
        const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
        const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
        const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
        hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, buffer[column] + row);
        hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, buffer[column + 1] + row);
        hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, buffer[column + 2] + row);
        hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, buffer[column + 3] + row);
      }
      for (; column < x.columns; ++column)
        for (std::int64_t i = row; i < row + 4; ++i) buffer[column][i] = x.row(i)[column];
    }
  }
#endif
  for (; row < x.rows; ++row)
    for (std::int64_t column = 0; column < x.columns; ++column) buffer[column][row] = x.row(row)[column];
}

template <typename T>
void TransposeChunk(Matrix<const T> x, Matrix<T> y) {
  HWY_ALIGN T buffer[kTransposedBlock][kTransposedBlock];
  for (std::int64_t row = 0; row < x.rows; row += kTransposedBlock) {
    const std::int64_t rows = std::min(kTransposedBlock, x.rows - row);
    for (std::int64_t column = 0; column < x.columns; column += kTransposedBlock) {
      const std::int64_t columns = std::min(kTransposedBlock, x.columns - column);
      TransposeInto(x.Rows(row, rows).Columns(column, columns), buffer);
      for (std::int64_t i = 0; i < columns; ++i) std::copy_n(buffer[i], rows, y.row(column + i) + row);
    }
  }
}
HEADLIGHT_KERNEL(TransposeChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(TransposeChunk);

template <typename T>
void TransposeBlock(Matrix<const T> x, Matrix<T> y) {
  Ensure(x.rows == y.columns && x.columns == y.rows, "[{}, {}] is transposed to [{}, {}]", x.rows, x.columns, y.rows,
         y.columns);
  HEADLIGHT_DISPATCH(TransposeChunk, T)(x, y);
}

template <typename T>
void Transpose(Matrix<const T> x, Matrix<T> y) {
  const Profiled profiled("transpose", 0, BytesOf(x, 2));
  constexpr std::int64_t rows = 64;
  if (x.rows * x.columns <= kElementsPerChunk) return TransposeBlock(x, y);
  ParallelFor((x.rows + rows - 1) / rows, [&](std::int64_t index) {
    const std::int64_t first = index * rows, count = std::min(rows, x.rows - first);
    TransposeBlock<T>(x.Rows(first, count), y.Columns(first, count));
  });
}

#define HEADLIGHT_TRANSPOSE(T)                              \
  template void TransposeBlock(Matrix<const T>, Matrix<T>); \
  template void Transpose(Matrix<const T>, Matrix<T>)
HEADLIGHT_TRANSPOSE(float);
HEADLIGHT_TRANSPOSE(double);
#undef HEADLIGHT_TRANSPOSE

}  // namespace headlight::kernels
#endif
