#include "headlight/kernels/gumbel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/gumbel.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/dropout_hash-inl.h"
#include "headlight/kernels/functions-inl.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

template <typename T>
void GumbelChunk(std::uint64_t seed, std::int64_t first_row, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;  // has as many lanes as d, each half as wide if d is for double
  const hn::RebindToUnsigned<decltype(d32)> du32;
  const auto step = hn::Set(d, static_cast<T>(0x1p-23)), half = hn::Set(d, static_cast<T>(0x1p-24));
  for (std::int64_t row = 0; row < y.rows; ++row) {
    const DropoutKey key = RowDropoutKey(seed, static_cast<std::uint64_t>(first_row + row));
    T* const out = y.row(row);
    ForLanes(d, y.columns, [&](std::int64_t column, auto lanes) HWY_ATTR {
      const auto bits =
          hn::BitCast(d32, hn::ShiftRight<9>(DropoutBitsOf(du32, key, static_cast<std::uint32_t>(column))));
      hn::Vec<decltype(d)> number;
      if constexpr (sizeof(T) == 4) {
        number = hn::ConvertTo(d, bits);
      } else {
        number = hn::PromoteTo(d, bits);
      }
      const auto uniform = hn::MulAdd(number, step, half);
      StoreLanes(hn::Neg(hn::Log(d, hn::Neg(hn::Log(d, uniform)))), d, out + column, lanes);
    });
  }
}

HEADLIGHT_KERNEL(GumbelChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(GumbelChunk);

template <typename T>
void GumbelRows(std::uint64_t seed, Matrix<T> y) {
  const Profiled profiled("Gumbel noise", 0, BytesOf(y, 1));
  const auto chunk = HEADLIGHT_DISPATCH(GumbelChunk, T);
  ForRowChunks(y.rows, y.columns,
               [&](std::int64_t first, std::int64_t rows) { chunk(seed, first, y.Rows(first, rows)); });
}

template void GumbelRows(std::uint64_t, Matrix<float>);
template void GumbelRows(std::uint64_t, Matrix<double>);

}  // namespace headlight::kernels
#endif
