#include "headlight/kernels/soft_cap.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/soft_cap.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "headlight/base/error.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/functions-inl.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <typename T>
void SoftCapChunk(Matrix<const T> x, T cap, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, 1 / cap), highest = hn::Set(d, cap);
  for (std::int64_t row = 0; row < x.rows; ++row)
    ForLanes(d, x.columns, [&, in = x.row(row), out = y.row(row)](std::int64_t column, auto lanes) HWY_ATTR {
      const auto tangent = TanhOf(d, hn::Mul(LoadLanes(d, in + column, lanes), factor));
      StoreLanes(hn::Mul(tangent, highest), d, out + column, lanes);
    });
}

template <typename T>
void SoftCapGradientChunk(Matrix<const T> y, T cap, Matrix<const T> d_y, Matrix<T> d_x) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, 1 / cap), one = hn::Set(d, T{1});
  for (std::int64_t row = 0; row < y.rows; ++row)
    ForLanes(d, y.columns,
             [&, of = y.row(row), d_out = d_y.row(row), d_in = d_x.row(row)](std::int64_t column, auto lanes) HWY_ATTR {
               const auto tangent = hn::Mul(LoadLanes(d, of + column, lanes), factor);
               const auto slope = hn::NegMulAdd(tangent, tangent, one);
               StoreLanes(hn::Mul(slope, LoadLanes(d, d_out + column, lanes)), d, d_in + column, lanes);
             });
}

HEADLIGHT_KERNEL(SoftCapChunk);
HEADLIGHT_KERNEL(SoftCapGradientChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(SoftCapChunk);
HEADLIGHT_EXPORT(SoftCapGradientChunk);

template <typename T>
void SoftCapRows(Matrix<const T> x, T cap, Matrix<T> y) {
  Ensure(cap > 0 && x.rows == y.rows && x.columns == y.columns, "a cap of {} for [{}, {}] to [{}, {}]", cap, x.rows,
         x.columns, y.rows, y.columns);
  const Profiled profiled("soft cap", 0, BytesOf(x, 2));
  const auto chunk = HEADLIGHT_DISPATCH(SoftCapChunk, T);
  ForRowChunks(x.rows, x.columns,
               [&](std::int64_t first, std::int64_t rows) { chunk(x.Rows(first, rows), cap, y.Rows(first, rows)); });
}

template <typename T>
void SoftCapRowsGradient(Matrix<const T> y, T cap, Matrix<const T> d_y, Matrix<T> d_x) {
  Ensure(cap > 0 && y.rows == d_y.rows && y.columns == d_y.columns && y.rows == d_x.rows && y.columns == d_x.columns,
         "a cap's gradient of {} for [{}, {}]", cap, y.rows, y.columns);
  const Profiled profiled("soft cap gradient", 0, BytesOf(y, 3));
  const auto chunk = HEADLIGHT_DISPATCH(SoftCapGradientChunk, T);
  ForRowChunks(y.rows, y.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(y.Rows(first, rows), cap, d_y.Rows(first, rows), d_x.Rows(first, rows));
  });
}

template void SoftCapRows(Matrix<const float>, float, Matrix<float>);
template void SoftCapRows(Matrix<const double>, double, Matrix<double>);
template void SoftCapRowsGradient(Matrix<const float>, float, Matrix<const float>, Matrix<float>);
template void SoftCapRowsGradient(Matrix<const double>, double, Matrix<const double>, Matrix<double>);

}  // namespace headlight::kernels
#endif
