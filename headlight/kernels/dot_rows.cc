#include "headlight/kernels/dot_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/dot_rows.cc"
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
void DotRowsChunk(Matrix<const T> rows, const T* vector, T* products) {
  const hn::ScalableTag<T> d;
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    const T* const own = rows.row(row);
    products[row] = SumOverLanes(d, rows.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      return hn::Mul(LoadLanes(d, own + column, lanes), LoadLanes(d, vector + column, lanes));
    });
  }
}

HEADLIGHT_KERNEL(DotRowsChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(DotRowsChunk);

template <typename T>
void DotRows(Matrix<const T> rows, const T* vector, T* products) {
  const Profiled profiled("dot", 2 * rows.rows * rows.columns, BytesOf(rows, 1));
  const auto chunk = HEADLIGHT_DISPATCH(DotRowsChunk, T);
  ForRowChunks(rows.rows, rows.columns, [&](std::int64_t first, std::int64_t count) {
    chunk(rows.Rows(first, count), vector, products + first);
  });
}

template void DotRows(Matrix<const float>, const float*, float*);
template void DotRows(Matrix<const double>, const double*, double*);

}  // namespace headlight::kernels
#endif
