#include "headlight/kernels/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/layer_norm.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cmath>

#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/dropout-inl.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
using kernels::RowMoments;

// Normalizes one row, given the sum of its elements. The variance is computed from differences from the mean, so that a
// large mean loses no precision.
template <typename T>
HWY_INLINE void NormalizeRow(std::int64_t columns, const T* x, T sum, const T* gain, const T* bias, T epsilon, T* y,
                             std::int64_t row, RowMoments<T> moments) {
  const hn::ScalableTag<T> d;
  const T mean = sum / static_cast<T>(columns);
  const auto means = hn::Set(d, mean);
  const T squares = SumOverLanes(d, columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
    const auto difference = hn::Sub(LoadLanes(d, x + column, lanes), means);
    return hn::Mul(difference, difference);
  });
  const T inverse_deviation = 1 / std::sqrt(squares / static_cast<T>(columns) + epsilon);
  const auto scale = hn::Set(d, inverse_deviation);
  ForLanes(d, columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
    const auto normal = hn::Mul(hn::Sub(LoadLanes(d, x + column, lanes), means), scale);
    const auto gains = LoadLanes(d, gain + column, lanes), biases = LoadLanes(d, bias + column, lanes);
    StoreLanes(hn::MulAdd(normal, gains, biases), d, y + column, lanes);
  });
  if (moments.mean) {
    moments.mean[row] = mean;
    moments.inverse_deviation[row] = inverse_deviation;
  }
}

template <typename T>
void LayerNormChunk(Matrix<const T> x, const T* gain, const T* bias, T epsilon, std::int64_t first_row, Matrix<T> y,
                    RowMoments<T> moments) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const T* const in = x.row(row);
    const T sum = SumOverLanes(
        d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR { return LoadLanes(d, in + column, lanes); });
    NormalizeRow(x.columns, in, sum, gain, bias, epsilon, y.row(row), first_row + row, moments);
  }
}

template <typename T>
void ResidualLayerNormChunk(Matrix<const T> x, Matrix<const T> sublayer, Dropout dropout, const T* gain, const T* bias,
                            T epsilon, std::int64_t first_row, Matrix<T> sum, Matrix<T> y, RowMoments<T> moments) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const RowDropout drop(dropout, first_row + row);
    const T *const in = x.row(row), *const branch = sublayer.row(row);
    T* const added = sum.row(row);
    const T total = SumOverLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto dropped = drop.Apply(d, LoadLanes(d, branch + column, lanes), column);
      const auto element = hn::Add(LoadLanes(d, in + column, lanes), dropped);
      StoreLanes(element, d, added + column, lanes);
      return element;
    });
    NormalizeRow<T>(x.columns, added, total, gain, bias, epsilon, y.row(row), first_row + row, moments);
  }
}

// Let n = (x - mean) / deviation and g = d_y * gain. Then d_x = (g - mean of g - n * mean of (g * n)) / deviation.
// d_sublayer is not written if it has no data. The sums of d_y * n and d_y over rows are added to d_gain and d_bias.
template <typename T>
void LayerNormGradientChunk(Matrix<const T> x, const T* gain, RowMoments<T> moments, Dropout dropout,
                            std::int64_t first_row, Matrix<const T> d_y, Matrix<T> d_x, Matrix<T> d_sublayer, T* d_gain,
                            T* d_bias) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const T *const in = x.row(row), *const d_out = d_y.row(row);
    T* const d_in = d_x.row(row);
    const auto mean = hn::Set(d, moments.mean[first_row + row]);
    const auto scale = hn::Set(d, moments.inverse_deviation[first_row + row]);
    const auto normal = [&](std::int64_t column, auto lanes)
                            HWY_ATTR { return hn::Mul(hn::Sub(LoadLanes(d, in + column, lanes), mean), scale); };

    auto g_normal_sums = hn::Zero(d);
    const T g_sum = SumOverLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto n = normal(column, lanes), out = LoadLanes(d, d_out + column, lanes);
      const auto out_normal = hn::Mul(out, n);
      StoreLanes(hn::Add(LoadLanes(d, d_gain + column, lanes), out_normal), d, d_gain + column, lanes);
      StoreLanes(hn::Add(LoadLanes(d, d_bias + column, lanes), out), d, d_bias + column, lanes);
      const auto gains = LoadLanes(d, gain + column, lanes);
      g_normal_sums = hn::MulAdd(out_normal, gains, g_normal_sums);  // inactive lanes are zero
      return hn::Mul(out, gains);
    });
    const T columns = static_cast<T>(x.columns);
    const auto g_mean = hn::Set(d, g_sum / columns);
    const auto g_normal_mean = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, g_normal_sums)) / columns);

    const RowDropout drop(dropout, first_row + row);
    T* const d_branch = d_sublayer.data ? d_sublayer.row(row) : nullptr;
    ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto g = hn::Mul(LoadLanes(d, d_out + column, lanes), LoadLanes(d, gain + column, lanes));
      const auto rest = hn::NegMulAdd(normal(column, lanes), g_normal_mean, hn::Sub(g, g_mean));
      const auto result = hn::Mul(rest, scale);
      StoreLanes(result, d, d_in + column, lanes);
      if (d_branch) StoreLanes(drop.Apply(d, result, column), d, d_branch + column, lanes);
    });
  }
}

HEADLIGHT_KERNEL(LayerNormChunk);
HEADLIGHT_KERNEL(ResidualLayerNormChunk);
HEADLIGHT_KERNEL(LayerNormGradientChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(LayerNormChunk);
HEADLIGHT_EXPORT(ResidualLayerNormChunk);
HEADLIGHT_EXPORT(LayerNormGradientChunk);

template <typename T>
void LayerNormRows(Matrix<const T> x, const T* gain, const T* bias, double epsilon, Matrix<T> y,
                   RowMoments<T> moments) {
  const Profiled profiled("layer norm", 0, BytesOf(x, 2));
  const auto chunk = HEADLIGHT_DISPATCH(LayerNormChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), gain, bias, static_cast<T>(epsilon), first, y.Rows(first, rows), moments);
  });
}

template <typename T>
void ResidualLayerNormRows(Matrix<const T> x, Matrix<const T> sublayer, Dropout dropout, const T* gain, const T* bias,
                           double epsilon, Matrix<T> sum, Matrix<T> y, RowMoments<T> moments) {
  const Profiled profiled("residual and layer norm", 0, BytesOf(x, 4));
  const auto chunk = HEADLIGHT_DISPATCH(ResidualLayerNormChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), sublayer.Rows(first, rows), dropout, gain, bias, static_cast<T>(epsilon), first,
          sum.Rows(first, rows), y.Rows(first, rows), moments);
  });
}

template <typename T>
void ResidualLayerNormRowsGradient(Matrix<const T> sum, const T* gain, RowMoments<T> moments, Dropout dropout,
                                   Matrix<const T> d_y, Matrix<T> d_x, Matrix<T> d_sublayer, T* d_gain, T* d_bias) {
  const Profiled profiled("layer norm gradient", 0, BytesOf(sum, 4));
  const auto chunk = HEADLIGHT_DISPATCH(LayerNormGradientChunk, T);
  const std::int64_t columns = sum.columns;
  struct GainAndBias;
  T* const sums = KeptScratch<GainAndBias, T>(2 * columns);
  std::fill_n(sums, 2 * columns, T{0});
  AddRowSums(sum.rows, 2 * columns, sums, [&](std::int64_t first, std::int64_t rows, T* partial) {
    chunk(sum.Rows(first, rows), gain, moments, dropout, first, d_y.Rows(first, rows), d_x.Rows(first, rows),
          d_sublayer.data ? d_sublayer.Rows(first, rows) : d_sublayer, partial, partial + columns);
  });
  for (std::int64_t column = 0; column < columns; ++column) {
    d_gain[column] += sums[column];
    d_bias[column] += sums[columns + column];
  }
}

template <typename T>
void LayerNormRowsGradient(Matrix<const T> x, const T* gain, RowMoments<T> moments, Matrix<const T> d_y, Matrix<T> d_x,
                           T* d_gain, T* d_bias) {
  ResidualLayerNormRowsGradient<T>(x, gain, moments, Dropout{}, d_y, d_x, Matrix<T>{}, d_gain, d_bias);
}

#define HEADLIGHT_LAYER_NORM(T)                                                                                      \
  template void LayerNormRows(Matrix<const T>, const T*, const T*, double, Matrix<T>, RowMoments<T>);                \
  template void LayerNormRowsGradient(Matrix<const T>, const T*, RowMoments<T>, Matrix<const T>, Matrix<T>, T*, T*); \
  template void ResidualLayerNormRows(Matrix<const T>, Matrix<const T>, Dropout, const T*, const T*, double,         \
                                      Matrix<T>, Matrix<T>, RowMoments<T>);                                          \
  template void ResidualLayerNormRowsGradient(Matrix<const T>, const T*, RowMoments<T>, Dropout, Matrix<const T>,    \
                                              Matrix<T>, Matrix<T>, T*, T*)
HEADLIGHT_LAYER_NORM(float);
HEADLIGHT_LAYER_NORM(double);
#undef HEADLIGHT_LAYER_NORM

}  // namespace headlight::kernels
#endif
