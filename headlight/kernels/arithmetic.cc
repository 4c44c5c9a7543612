#include "headlight/kernels/arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/arithmetic.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

// Computes y = operation(a, b), row by row. b may have a single column.
template <typename T, class Operation>
HWY_INLINE void Combine(Matrix<const T> a, Matrix<const T> b, Matrix<T> y, const Operation& operation) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < y.rows; ++row) {
    const T *const left = a.row(row), *const right = b.row(row);
    T* const out = y.row(row);
    if (b.columns != y.columns) {
      const auto number = hn::Set(d, *right);
      ForLanes(d, y.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
        StoreLanes(operation(LoadLanes(d, left + column, lanes), number), d, out + column, lanes);
      });
    } else {
      ForLanes(d, y.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
        const auto result = operation(LoadLanes(d, left + column, lanes), LoadLanes(d, right + column, lanes));
        StoreLanes(result, d, out + column, lanes);
      });
    }
  }
}

template <typename T>
void AddChunk(Matrix<const T> a, Matrix<const T> b, Matrix<T> y) {
  Combine<T>(a, b, y, [](auto left, auto right) HWY_ATTR { return hn::Add(left, right); });
}

template <typename T>
void MultiplyChunk(Matrix<const T> a, Matrix<const T> b, Matrix<T> y) {
  Combine<T>(a, b, y, [](auto left, auto right) HWY_ATTR { return hn::Mul(left, right); });
}

template <typename T>
void ColumnSumsChunk(Matrix<const T> x, T* sums) {
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const hn::ScalableTag<T> d;
    const T* const in = x.row(row);
    ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto sum = hn::Add(LoadLanes(d, sums + column, lanes), LoadLanes(d, in + column, lanes));
      StoreLanes(sum, d, sums + column, lanes);
    });
  }
}

HEADLIGHT_KERNEL(AddChunk);
HEADLIGHT_KERNEL(MultiplyChunk);
HEADLIGHT_KERNEL(ColumnSumsChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(AddChunk);
HEADLIGHT_EXPORT(MultiplyChunk);
HEADLIGHT_EXPORT(ColumnSumsChunk);

namespace {

// Both operations are commutative, so operands are swapped if a has a single column.
template <typename T, class Chunk>
void CombineRows(Matrix<const T> a, Matrix<const T> b, Matrix<T> y, Chunk chunk) {
  if (a.columns != y.columns) std::swap(a, b);
  Ensure(a.rows == y.rows && b.rows == y.rows && a.columns == y.columns && (b.columns == y.columns || b.columns == 1),
         "[{}, {}] and [{}, {}] do not make [{}, {}]", a.rows, a.columns, b.rows, b.columns, y.rows, y.columns);
  ForRowChunks(y.rows, y.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(a.Rows(first, rows), b.Rows(first, rows), y.Rows(first, rows));
  });
}

}  // namespace

template <typename T>
void AddRows(Matrix<const T> a, Matrix<const T> b, Matrix<T> y) {
  const Profiled profiled("add", 0, BytesOf(y, 3));
  CombineRows<T>(a, b, y, HEADLIGHT_DISPATCH(AddChunk, T));
}

template <typename T>
void MultiplyRows(Matrix<const T> a, Matrix<const T> b, Matrix<T> y) {
  const Profiled profiled("multiply", 0, BytesOf(y, 3));
  CombineRows<T>(a, b, y, HEADLIGHT_DISPATCH(MultiplyChunk, T));
}

template <typename T>
void ScaleRows(Matrix<const T> x, double factor, Matrix<T> y) {
  const Profiled profiled("scale", 0, BytesOf(x, 2));
  const T number = static_cast<T>(factor);
  CombineRows<T>(x, {&number, x.rows, 1, 0}, y, HEADLIGHT_DISPATCH(MultiplyChunk, T));
}

template <typename T>
void AddColumnSums(Matrix<const T> x, T* sums) {
  const Profiled profiled("bias gradient", 0, BytesOf(x, 1));
  const auto chunk = HEADLIGHT_DISPATCH(ColumnSumsChunk, T);
  AddRowSums(x.rows, x.columns, sums,
             [&](std::int64_t first, std::int64_t rows, T* partial) { chunk(x.Rows(first, rows), partial); });
}

#define HEADLIGHT_ARITHMETIC(T)                                            \
  template void AddRows(Matrix<const T>, Matrix<const T>, Matrix<T>);      \
  template void MultiplyRows(Matrix<const T>, Matrix<const T>, Matrix<T>); \
  template void ScaleRows(Matrix<const T>, double, Matrix<T>);             \
  template void AddColumnSums(Matrix<const T>, T*)
HEADLIGHT_ARITHMETIC(float);
HEADLIGHT_ARITHMETIC(double);
#undef HEADLIGHT_ARITHMETIC

}  // namespace headlight::kernels
#endif
