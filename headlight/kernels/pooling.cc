#include "headlight/kernels/pooling.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/pooling.cc"
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

// Writes the maximum of each column over `rows`. Unless `index` is null, also writes the index in `rows` of each
// maximum. If several elements are equal, this is the first index.
template <typename T>
void LargestOf(Matrix<const T> x, const std::int32_t* rows, std::int64_t count, T* y, T* index) {
  const hn::ScalableTag<T> d;
  ForLanes(d, x.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
    auto largest = LoadLanes(d, x.row(rows[0]) + column, lanes);
    auto place = hn::Zero(d);
    for (std::int64_t i = 1; i < count; ++i) {
      const auto other = LoadLanes(d, x.row(rows[i]) + column, lanes);
      const auto larger = hn::Or(hn::Gt(other, largest), hn::AndNot(hn::IsNaN(largest), hn::IsNaN(other)));
      largest = hn::IfThenElse(larger, other, largest);
      place = hn::IfThenElse(larger, hn::Set(d, static_cast<T>(i)), place);
    }
    StoreLanes(largest, d, y + column, lanes);
    if (index != nullptr) StoreLanes(place, d, index + column, lanes);
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
    struct Places;
    T* const places = which.data == nullptr ? nullptr : KeptScratch<Places, T>(y.columns);
    for (std::int64_t row = first; row < first + count; ++row) {
      const auto index = static_cast<std::size_t>(row);
      const std::int32_t* const window = rows.data() + begin[index];
      largest(x, window, begin[index + 1] - begin[index], y.row(row), places);
      for (std::int64_t column = 0; places != nullptr && column < y.columns; ++column)
        which.row(row)[column] = window[static_cast<std::int64_t>(places[column])];
    }
  });
}

template void LargestOfRows(Matrix<const float>, std::span<const std::int32_t>, std::span<const std::int32_t>,
                            Matrix<float>, Matrix<std::int32_t>);
template void LargestOfRows(Matrix<const double>, std::span<const std::int32_t>, std::span<const std::int32_t>,
                            Matrix<double>, Matrix<std::int32_t>);

}  // namespace headlight::kernels
#endif
