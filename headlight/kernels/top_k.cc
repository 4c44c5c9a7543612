#include "headlight/kernels/top_k.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/top_k.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway's order.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cmath>

#include "headlight/base/error.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

// NaN above every number.
template <typename T>
HWY_INLINE bool Above(T a, T b) {
  return a > b || (std::isnan(a) && !std::isnan(b));
}

// Scans for elements that are not below or equal to the least of the best k so far; in a row of independent numbers
// only about k log(columns / k) of them are found, so the insertion may be simple.
template <typename T>
void TopKChunk(Matrix<const T> x, Matrix<T> values, Matrix<std::int32_t> columns) {
  const hn::ScalableTag<T> d;
  const std::int64_t k = values.columns, lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const T* const in = x.row(row);
    T* const best = values.row(row);
    std::int32_t* const where = columns.row(row);
    const auto insert = [&](std::int64_t column, std::int64_t last) HWY_ATTR {
      const T value = in[column];
      std::int64_t rank = last;
      for (; rank > 0 && Above(value, best[rank - 1]); --rank) {
        best[rank] = best[rank - 1];
        where[rank] = where[rank - 1];
      }
      best[rank] = value;
      where[rank] = static_cast<std::int32_t>(column);
    };
    for (std::int64_t column = 0; column < k; ++column) insert(column, column);
    const auto consider = [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
      for (std::int64_t column = begin; column < end; ++column) {
        if (Above(in[column], best[k - 1])) insert(column, k - 1);
      }
    };
    std::int64_t column = k;
    for (; column + lanes <= x.columns; column += lanes) {
      if (!hn::AllTrue(d, hn::Le(hn::LoadU(d, in + column), hn::Set(d, best[k - 1])))) consider(column, column + lanes);
    }
    consider(column, x.columns);
  }
}

HEADLIGHT_KERNEL(TopKChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(TopKChunk);

template <typename T>
void TopKRows(Matrix<const T> x, Matrix<T> values, Matrix<std::int32_t> columns) {
  Ensure(values.columns >= 1 && values.columns <= x.columns && columns.columns == values.columns,
         "TopKRows: {} values and {} columns from rows of {}", values.columns, columns.columns, x.columns);
  const Profiled profiled("top k", 0, BytesOf(x, 1));
  const auto chunk = HEADLIGHT_DISPATCH(TopKChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), values.Rows(first, rows), columns.Rows(first, rows));
  });
}

template void TopKRows(Matrix<const float>, Matrix<float>, Matrix<std::int32_t>);
template void TopKRows(Matrix<const double>, Matrix<double>, Matrix<std::int32_t>);

}  // namespace headlight::kernels
#endif
