#include "headlight/kernels/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/softmax.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/functions-inl.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <typename T>
void SoftmaxChunk(Matrix<const T> x, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const T* const in = x.row(row);
    T* const out = y.row(row);
    const auto max = hn::Set(d, MaxOverLanes(d, x.columns, in));
    const T sum = SumOverLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto weight = WeightOf(d, hn::Sub(LoadLanes(d, in + column, lanes), max));
      StoreLanes(weight, d, out + column, lanes);
      return weight;
    });
    const auto scale = hn::Set(d, 1 / sum);
    ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      StoreLanes(hn::Mul(LoadLanes(d, out + column, lanes), scale), d, out + column, lanes);
    });
  }
}

template <typename T>
void SoftmaxGradientChunk(Matrix<const T> y, Matrix<const T> d_y, Matrix<T> d_x) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < y.rows; ++row) {
    const T *const weights = y.row(row), *const d_weights = d_y.row(row);
    T* const out = d_x.row(row);
    const auto dot =
        hn::Set(d, SumOverLanes(d, y.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
                  return hn::Mul(LoadLanes(d, weights + column, lanes), LoadLanes(d, d_weights + column, lanes));
                }));
    ForLanes(d, y.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto difference = hn::Sub(LoadLanes(d, d_weights + column, lanes), dot);
      StoreLanes(hn::Mul(LoadLanes(d, weights + column, lanes), difference), d, out + column, lanes);
    });
  }
}

HEADLIGHT_KERNEL(SoftmaxChunk);
HEADLIGHT_KERNEL(SoftmaxGradientChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(SoftmaxChunk);
HEADLIGHT_EXPORT(SoftmaxGradientChunk);

template <typename T>
void SoftmaxRows(Matrix<const T> x, Matrix<T> y) {
  const Profiled profiled("softmax", 0, BytesOf(x, 2));
  const auto chunk = HEADLIGHT_DISPATCH(SoftmaxChunk, T);
  ForRowChunks(x.rows, x.columns,
               [&](std::int64_t first, std::int64_t rows) { chunk(x.Rows(first, rows), y.Rows(first, rows)); });
}

template <typename T>
void SoftmaxRowsGradient(Matrix<const T> y, Matrix<const T> d_y, Matrix<T> d_x) {
  const Profiled profiled("softmax gradient", 0, BytesOf(y, 3));
  const auto chunk = HEADLIGHT_DISPATCH(SoftmaxGradientChunk, T);
  ForRowChunks(y.rows, y.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(y.Rows(first, rows), d_y.Rows(first, rows), d_x.Rows(first, rows));
  });
}

template void SoftmaxRows(Matrix<const float>, Matrix<float>);
template void SoftmaxRows(Matrix<const double>, Matrix<double>);
template void SoftmaxRowsGradient(Matrix<const float>, Matrix<const float>, Matrix<float>);
template void SoftmaxRowsGradient(Matrix<const double>, Matrix<const double>, Matrix<double>);

}  // namespace headlight::kernels
#endif
