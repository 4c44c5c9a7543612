#include "headlight/kernels/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/dropout.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/dropout-inl.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <typename T>
void DropoutChunk(Matrix<const T> x, Dropout dropout, std::int64_t first_row, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const RowDropout drop(dropout, first_row + row);
    const T* const in = x.row(row);
    T* const out = y.row(row);
    ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      StoreLanes(drop.Apply(d, LoadLanes(d, in + column, lanes), column), d, out + column, lanes);
    });
  }
}

template <typename T>
void ResidualChunk(Matrix<const T> x, Matrix<const T> sublayer, Dropout dropout, std::int64_t first_row, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const RowDropout drop(dropout, first_row + row);
    const T *const in = x.row(row), *const branch = sublayer.row(row);
    T* const out = y.row(row);
    ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto dropped = drop.Apply(d, LoadLanes(d, branch + column, lanes), column);
      StoreLanes(hn::Add(LoadLanes(d, in + column, lanes), dropped), d, out + column, lanes);
    });
  }
}

HEADLIGHT_KERNEL(DropoutChunk);
HEADLIGHT_KERNEL(ResidualChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(DropoutChunk);
HEADLIGHT_EXPORT(ResidualChunk);

template <typename T>
void DropoutRows(Matrix<const T> x, Dropout dropout, Matrix<T> y) {
  const Profiled profiled("dropout", 0, BytesOf(x, 2));
  const auto chunk = HEADLIGHT_DISPATCH(DropoutChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), dropout, first, y.Rows(first, rows));
  });
}

template <typename T>
void ResidualRows(Matrix<const T> x, Matrix<const T> sublayer, Dropout dropout, Matrix<T> y) {
  const Profiled profiled("residual", 0, BytesOf(x, 3));
  const auto chunk = HEADLIGHT_DISPATCH(ResidualChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), sublayer.Rows(first, rows), dropout, first, y.Rows(first, rows));
  });
}

template void DropoutRows(Matrix<const float>, Dropout, Matrix<float>);
template void DropoutRows(Matrix<const double>, Dropout, Matrix<double>);
template void ResidualRows(Matrix<const float>, Matrix<const float>, Dropout, Matrix<float>);
template void ResidualRows(Matrix<const double>, Matrix<const double>, Dropout, Matrix<double>);

}  // namespace headlight::kernels
#endif
