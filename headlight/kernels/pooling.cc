#include "headlight/kernels/pooling.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/pooling.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway's order.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cmath>

#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <typename T>
void LargestOf(Matrix<const T> x, const std::int32_t* rows, std::int64_t count, T* y) {
  const hn::ScalableTag<T> d;
  ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
    auto largest = LoadLanes(d, x.row(rows[0]) + column, lanes);
    for (std::int64_t i = 1; i < count; ++i) {
      const auto other = LoadLanes(d, x.row(rows[i]) + column, lanes);
      largest = hn::IfThenElse(hn::Or(hn::Gt(other, largest), hn::IsNaN(other)), other, largest);
    }
    StoreLanes(largest, d, y + column, lanes);
  });
}
HEADLIGHT_KERNEL(LargestOf);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(LargestOf);

template <typename T>
void LargestOfRows(Matrix<const T> x, std::span<const std::int32_t> rows, std::span<const std::int32_t> begin,
                   Matrix<T> y, Matrix<std::int32_t> which) {
  const Profiled profiled("max pooling", 0, BytesOf(x, 1) + BytesOf(y, 1));
  const auto largest = HEADLIGHT_DISPATCH(LargestOf, T);
  ForRowChunks(y.rows, y.columns, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t row = first; row < first + count; ++row) {
      const auto index = static_cast<std::size_t>(row);
      const std::int32_t* const window = rows.data() + begin[index];
      const std::int64_t cells = begin[index + 1] - begin[index];
      largest(x, window, cells, y.row(row));
      if (which.data == nullptr) continue;
      std::fill_n(which.row(row), y.columns, window[0]);
      for (std::int64_t cell = cells - 1; cell >= 0; --cell)  // so that the first of equals remains
        for (std::int64_t column = 0; column < y.columns; ++column) {
          const T value = x.row(window[cell])[column];
          if (value == y.row(row)[column] || std::isnan(value)) which.row(row)[column] = window[cell];
        }
    }
  });
}

template void LargestOfRows(Matrix<const float>, std::span<const std::int32_t>, std::span<const std::int32_t>,
                            Matrix<float>, Matrix<std::int32_t>);
template void LargestOfRows(Matrix<const double>, std::span<const std::int32_t>, std::span<const std::int32_t>,
                            Matrix<double>, Matrix<std::int32_t>);

}  // namespace headlight::kernels
#endif
