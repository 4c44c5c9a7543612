#include "headlight/kernels/channel_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/channel_norm.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <typename T>
void SquaredDeviationsChunk(Matrix<const T> x, const T* center, T* sums) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const T* const in = x.row(row);
    ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto apart = hn::Sub(LoadLanes(d, in + column, lanes), LoadLanes(d, center + column, lanes));
      StoreLanes(hn::MulAdd(apart, apart, LoadLanes(d, sums + column, lanes)), d, sums + column, lanes);
    });
  }
}

template <typename T>
void DeviationProductsChunk(Matrix<const T> x, const T* center, Matrix<const T> d_y, T* sums) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const T *const in = x.row(row), *const by = d_y.row(row);
    ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto apart = hn::Sub(LoadLanes(d, in + column, lanes), LoadLanes(d, center + column, lanes));
      const auto sum = hn::MulAdd(apart, LoadLanes(d, by + column, lanes), LoadLanes(d, sums + column, lanes));
      StoreLanes(sum, d, sums + column, lanes);
    });
  }
}

template <typename T>
void ScaleAndShiftChunk(Matrix<const T> x, const T* factor, const T* offset, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const T* const in = x.row(row);
    T* const out = y.row(row);
    ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto result = hn::MulAdd(LoadLanes(d, in + column, lanes), LoadLanes(d, factor + column, lanes),
                                     LoadLanes(d, offset + column, lanes));
      StoreLanes(result, d, out + column, lanes);
    });
  }
}

template <typename T>
void CombineChunk(Matrix<const T> a, const T* factor_a, Matrix<const T> b, const T* factor_b, const T* offset,
                  Matrix<T> y) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const T *const in_a = a.row(row), *const in_b = b.row(row);
    T* const out = y.row(row);
    ForLanes(d, a.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto part = hn::MulAdd(LoadLanes(d, in_b + column, lanes), LoadLanes(d, factor_b + column, lanes),
                                   LoadLanes(d, offset + column, lanes));
      const auto sum = hn::MulAdd(LoadLanes(d, in_a + column, lanes), LoadLanes(d, factor_a + column, lanes), part);
      StoreLanes(sum, d, out + column, lanes);
    });
  }
}

HEADLIGHT_KERNEL(SquaredDeviationsChunk);
HEADLIGHT_KERNEL(DeviationProductsChunk);
HEADLIGHT_KERNEL(ScaleAndShiftChunk);
HEADLIGHT_KERNEL(CombineChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(SquaredDeviationsChunk);
HEADLIGHT_EXPORT(DeviationProductsChunk);
HEADLIGHT_EXPORT(ScaleAndShiftChunk);
HEADLIGHT_EXPORT(CombineChunk);

template <typename T>
void AddSquaredDeviations(Matrix<const T> x, const T* center, T* sums) {
  const Profiled profiled("channel norm", 0, BytesOf(x, 1));
  const auto chunk = HEADLIGHT_DISPATCH(SquaredDeviationsChunk, T);
  AddRowSums(x.rows, x.columns, sums,
             [&](std::int64_t first, std::int64_t rows, T* partial) { chunk(x.Rows(first, rows), center, partial); });
}

template <typename T>
void AddDeviationProducts(Matrix<const T> x, const T* center, Matrix<const T> d_y, T* sums) {
  const Profiled profiled("channel norm", 0, BytesOf(x, 2));
  const auto chunk = HEADLIGHT_DISPATCH(DeviationProductsChunk, T);
  AddRowSums(x.rows, x.columns, sums, [&](std::int64_t first, std::int64_t rows, T* partial) {
    chunk(x.Rows(first, rows), center, d_y.Rows(first, rows), partial);
  });
}

template <typename T>
void ScaleAndShiftRows(Matrix<const T> x, const T* factor, const T* offset, Matrix<T> y) {
  const Profiled profiled("channel norm", 0, BytesOf(x, 2));
  const auto chunk = HEADLIGHT_DISPATCH(ScaleAndShiftChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), factor, offset, y.Rows(first, rows));
  });
}

template <typename T>
void CombineRows(Matrix<const T> a, const T* factor_a, Matrix<const T> b, const T* factor_b, const T* offset,
                 Matrix<T> y) {
  const Profiled profiled("channel norm", 0, BytesOf(a, 3));
  const auto chunk = HEADLIGHT_DISPATCH(CombineChunk, T);
  ForRowChunks(a.rows, a.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(a.Rows(first, rows), factor_a, b.Rows(first, rows), factor_b, offset, y.Rows(first, rows));
  });
}

#define HEADLIGHT_CHANNEL_NORM(T)                                                     \
  template void AddSquaredDeviations(Matrix<const T>, const T*, T*);                  \
  template void AddDeviationProducts(Matrix<const T>, const T*, Matrix<const T>, T*); \
  template void ScaleAndShiftRows(Matrix<const T>, const T*, const T*, Matrix<T>);    \
  template void CombineRows(Matrix<const T>, const T*, Matrix<const T>, const T*, const T*, Matrix<T>)
HEADLIGHT_CHANNEL_NORM(float);
HEADLIGHT_CHANNEL_NORM(double);
#undef HEADLIGHT_CHANNEL_NORM

}  // namespace headlight::kernels
#endif
