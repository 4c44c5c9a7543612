#include "headlight/kernels/top_k.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/top_k.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cmath>
#include <limits>

#include "headlight/base/error.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/functions-inl.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
using kernels::kTopLogitsStep;
using kernels::TopLogits;

// Returns true if a > b. NaN is greater than every number.
template <typename T>
HWY_INLINE bool Above(T a, T b) {
  return a > b || (std::isnan(a) && !std::isnan(b));
}

// Scans for elements above the smallest of the best k so far. A row of independent values has only about k log(columns
// / k) such elements, so a simple insertion suffices.
template <typename T>
HWY_INLINE void AddToBest(const T* in, std::int64_t count, std::int64_t first, std::int64_t k, T* best,
                          std::int32_t* where) {
  const hn::ScalableTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto consider = [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t column = begin; column < end; ++column) {
      const T value = in[column];
      if (!Above(value, best[k - 1])) continue;
      std::int64_t rank = k - 1;
      for (; rank > 0 && Above(value, best[rank - 1]); --rank) {
        best[rank] = best[rank - 1];
        where[rank] = where[rank - 1];
      }
      best[rank] = value;
      where[rank] = static_cast<std::int32_t>(first + column);
    }
  };
  std::int64_t column = 0;
  for (; column + lanes <= count; column += lanes) {
    if (!hn::AllTrue(d, hn::Le(hn::LoadU(d, in + column), hn::Set(d, best[k - 1])))) consider(column, column + lanes);
  }
  consider(column, count);
}

template <typename T>
void AddColumnsOfRow(T* logits, std::int64_t count, std::int64_t first, std::span<const std::int32_t> never,
                     std::int64_t row, TopLogits<T>& top) {
  const hn::ScalableTag<T> d;
  T& max = top.max[static_cast<std::size_t>(row)];
  T& sum = top.sum[static_cast<std::size_t>(row)];
  T* const best = top.values.data() + row * top.k;
  for (std::int64_t begin = 0; begin < count; begin += kTopLogitsStep) {
    T* const in = logits + begin;
    const std::int64_t columns = std::min(kTopLogitsStep, count - begin);
    const T highest = MaxOverLanes(d, columns, in);
    if (highest == -std::numeric_limits<T>::infinity()) continue;
    if (!(highest <= max)) {
      sum *= std::exp(max - highest);
      max = highest;
    }
    sum += SumOverLanes(d, columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      return WeightOf(d, hn::Sub(LoadLanes(d, in + column, lanes), hn::Set(d, max)));
    });
    for (const std::int32_t column : never)
      if (first + begin <= column && column < first + begin + columns)
        in[column - first - begin] = -std::numeric_limits<T>::infinity();
    if (!(highest <= best[top.k - 1]))
      AddToBest(in, columns, first + begin, top.k, best, top.columns.data() + row * top.k);
  }
}

HEADLIGHT_KERNEL(AddColumnsOfRow);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(AddColumnsOfRow);

template <typename T>
void AddColumns(Matrix<T> logits, std::int64_t first, std::span<const std::int32_t> never, TopLogits<T>& top) {
  Ensure(logits.rows == top.rows && first % kTopLogitsStep == 0, "AddColumns: {} rows from column {} on, instead of {}",
         logits.rows, first, top.rows);
  const Profiled profiled("top k", 0, BytesOf(logits, 1));
  const auto add = HEADLIGHT_DISPATCH(AddColumnsOfRow, T);
  ForRowChunks(logits.rows, logits.columns, [&](std::int64_t begin, std::int64_t rows) {
    for (std::int64_t row = begin; row < begin + rows; ++row)
      add(logits.row(row), logits.columns, first, never, row, top);
  });
}

template <typename T>
void ToLogProbabilities(TopLogits<T>& top) {
  for (std::int64_t row = 0; row < top.rows; ++row) {
    const auto index = static_cast<std::size_t>(row);
    const T log_sum = std::log(top.sum[index]);
    for (T& value :
         std::span(top.values).subspan(index * static_cast<std::size_t>(top.k), static_cast<std::size_t>(top.k)))
      value = value - top.max[index] - log_sum;
  }
}

template void AddColumns(Matrix<float>, std::int64_t, std::span<const std::int32_t>, TopLogits<float>&);
template void AddColumns(Matrix<double>, std::int64_t, std::span<const std::int32_t>, TopLogits<double>&);
template void ToLogProbabilities(TopLogits<float>&);
template void ToLogProbabilities(TopLogits<double>&);

}  // namespace headlight::kernels
#endif
