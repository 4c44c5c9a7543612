#include "headlight/kernels/rms_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/rms_norm.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cmath>
#include <limits>

#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <typename T>
void RmsNormChunk(Matrix<const T> x, const T* gain, T epsilon, std::int64_t first_row, Matrix<T> y, T* inverse_rms) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const T* const in = x.row(row);
    T* const out = y.row(row);
    const T squares = SumOverLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto element = LoadLanes(d, in + column, lanes);
      return hn::Mul(element, element);
    });
    const T inverse = 1 / std::sqrt(squares / static_cast<T>(x.columns) + epsilon);
    // If the row contains infinity, makes all elements NaN. The finite elements would become 0, which would hide the
    // infinity.
    const auto scale = hn::Set(d, inverse > 0 ? inverse : std::numeric_limits<T>::quiet_NaN());
    ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto normal = hn::Mul(LoadLanes(d, in + column, lanes), scale);
      StoreLanes(hn::Mul(normal, LoadLanes(d, gain + column, lanes)), d, out + column, lanes);
    });
    if (inverse_rms) inverse_rms[first_row + row] = inverse;
  }
}

// Let n = x / rms and g = d_y * gain. Then d_x = (g - n * mean of (g * n)) / rms. The sums of d_y * n are added to
// d_gain.
template <typename T>
void RmsNormGradientChunk(Matrix<const T> x, const T* gain, const T* inverse_rms, std::int64_t first_row,
                          Matrix<const T> d_y, Matrix<T> d_x, T* d_gain) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const T *const in = x.row(row), *const d_out = d_y.row(row);
    T* const d_in = d_x.row(row);
    const auto scale = hn::Set(d, inverse_rms[first_row + row]);
    const T sum = SumOverLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto normal = hn::Mul(LoadLanes(d, in + column, lanes), scale);
      const auto out_normal = hn::Mul(LoadLanes(d, d_out + column, lanes), normal);
      StoreLanes(hn::Add(LoadLanes(d, d_gain + column, lanes), out_normal), d, d_gain + column, lanes);
      return hn::Mul(out_normal, LoadLanes(d, gain + column, lanes));
    });
    const auto mean = hn::Set(d, sum / static_cast<T>(x.columns));
    ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto normal = hn::Mul(LoadLanes(d, in + column, lanes), scale);
      const auto g = hn::Mul(LoadLanes(d, d_out + column, lanes), LoadLanes(d, gain + column, lanes));
      StoreLanes(hn::Mul(hn::NegMulAdd(normal, mean, g), scale), d, d_in + column, lanes);
    });
  }
}

HEADLIGHT_KERNEL(RmsNormChunk);
HEADLIGHT_KERNEL(RmsNormGradientChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(RmsNormChunk);
HEADLIGHT_EXPORT(RmsNormGradientChunk);

template <typename T>
void RmsNormRows(Matrix<const T> x, const T* gain, double epsilon, Matrix<T> y, T* inverse_rms) {
  const Profiled profiled("rms norm", 0, BytesOf(x, 2));
  const auto chunk = HEADLIGHT_DISPATCH(RmsNormChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), gain, static_cast<T>(epsilon), first, y.Rows(first, rows), inverse_rms);
  });
}

template <typename T>
void RmsNormRowsGradient(Matrix<const T> x, const T* gain, const T* inverse_rms, Matrix<const T> d_y, Matrix<T> d_x,
                         T* d_gain) {
  const Profiled profiled("rms norm gradient", 0, BytesOf(x, 3));
  const auto chunk = HEADLIGHT_DISPATCH(RmsNormGradientChunk, T);
  AddRowSums(x.rows, x.columns, d_gain, [&](std::int64_t first, std::int64_t rows, T* partial) {
    chunk(x.Rows(first, rows), gain, inverse_rms, first, d_y.Rows(first, rows), d_x.Rows(first, rows), partial);
  });
}

#define HEADLIGHT_RMS_NORM(T)                                                  \
  template void RmsNormRows(Matrix<const T>, const T*, double, Matrix<T>, T*); \
  template void RmsNormRowsGradient(Matrix<const T>, const T*, const T*, Matrix<const T>, Matrix<T>, T*)
HEADLIGHT_RMS_NORM(float);
HEADLIGHT_RMS_NORM(double);
#undef HEADLIGHT_RMS_NORM

}  // namespace headlight::kernels
#endif
