#include "headlight/kernels/rotary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/rotary.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {

// Rotates the pairs of features 2 i and 2 i + 1 of a head.
template <typename T>
HWY_INLINE void RotateAdjacent(const T* in, const T* cosine, const T* sine, std::int64_t pairs, T direction, T* out) {
  const hn::ScalableTag<T> d;
  const auto directions = hn::Set(d, direction);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= pairs; i += lanes) {
    const auto c = hn::LoadU(d, cosine + i), s = hn::Mul(directions, hn::LoadU(d, sine + i));
    hn::Vec<decltype(d)> first, second;
    hn::LoadInterleaved2(d, in + 2 * i, first, second);
    hn::StoreInterleaved2(hn::Sub(hn::Mul(first, c), hn::Mul(second, s)),
                          hn::Add(hn::Mul(second, c), hn::Mul(first, s)), d, out + 2 * i);
  }
  for (; i < pairs; ++i) {
    const T c = cosine[i], s = direction * sine[i], first = in[2 * i], second = in[2 * i + 1];
    out[2 * i] = first * c - second * s;
    out[2 * i + 1] = second * c + first * s;
  }
}

template <typename T>
void RotateChunk(Matrix<const T> x, std::int64_t head_dim, Matrix<const T> cosines, Matrix<const T> sines,
                 const std::int32_t* indices, kernels::RotaryPairs pairs, T direction, Matrix<T> y) {
  const hn::ScalableTag<T> d;
  const auto directions = hn::Set(d, direction);
  const std::int64_t half = cosines.columns;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const T *const cosine = cosines.row(indices[row]), *const sine = sines.row(indices[row]);
    for (std::int64_t head = 0; head < x.columns; head += head_dim) {
      const T* const in = x.row(row) + head;
      T* const out = y.row(row) + head;
      if (pairs == kernels::RotaryPairs::adjacent) {
        RotateAdjacent(in, cosine, sine, half, direction, out);
      } else {
        ForLanes(d, half, [&](std::int64_t i, auto lanes) HWY_ATTR {
          const auto c = LoadLanes(d, cosine + i, lanes), s = hn::Mul(directions, LoadLanes(d, sine + i, lanes));
          const auto first = LoadLanes(d, in + i, lanes), second = LoadLanes(d, in + half + i, lanes);
          StoreLanes(hn::Sub(hn::Mul(first, c), hn::Mul(second, s)), d, out + i, lanes);
          StoreLanes(hn::Add(hn::Mul(second, c), hn::Mul(first, s)), d, out + half + i, lanes);
        });
      }
      if (out != in) std::copy(in + 2 * half, in + head_dim, out + 2 * half);
    }
  }
}

HEADLIGHT_KERNEL(RotateChunk);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight::kernels {

HEADLIGHT_EXPORT(RotateChunk);

template <typename T>
void RotateRows(Matrix<const T> x, std::int64_t head_dim, Matrix<const T> cosines, Matrix<const T> sines,
                const std::int32_t* indices, RotaryPairs pairs, bool back, Matrix<T> y) {
  const Profiled profiled("rotate", 0, BytesOf(x, 2));
  Ensure(cosines.columns > 0 && head_dim >= 2 * cosines.columns && x.columns % head_dim == 0 &&
             sines.columns == cosines.columns,
         "{} columns are no heads of {} with {} pairs", x.columns, head_dim, cosines.columns);
  const auto chunk = HEADLIGHT_DISPATCH(RotateChunk, T);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    chunk(x.Rows(first, rows), head_dim, cosines, sines, indices + first, pairs, back ? T{-1} : T{1},
          y.Rows(first, rows));
  });
}

template void RotateRows(Matrix<const float>, std::int64_t, Matrix<const float>, Matrix<const float>,
                         const std::int32_t*, RotaryPairs, bool, Matrix<float>);
template void RotateRows(Matrix<const double>, std::int64_t, Matrix<const double>, Matrix<const double>,
                         const std::int32_t*, RotaryPairs, bool, Matrix<double>);

}  // namespace headlight::kernels
#endif
