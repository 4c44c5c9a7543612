// Loops over a row, one vector at a time, without accessing memory beyond the row. Included once per target, after
// hwy/highway.h. A step receives the column and the active lanes of its vector: All{} or First{count}.
#if defined(HEADLIGHT_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADLIGHT_KERNELS_LANES_INL_H_
#undef HEADLIGHT_KERNELS_LANES_INL_H_
#else
#define HEADLIGHT_KERNELS_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct All {};
struct First {
  std::size_t count;
};

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const T* from, All) {
  return hn::LoadU(d, from);
}

// Loads the active lanes of a vector. Inactive lanes are zero.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const T* from, First lanes) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, lanes.count), d, from);
#else  // on other targets, a masked load may read inactive lanes
  HWY_ALIGN T buffer[hn::MaxLanes(d)] = {};
  std::memcpy(buffer, from, lanes.count * sizeof(T));
  return hn::Load(d, buffer);
#endif
}

template <class D, class V, typename T = hn::TFromD<D>>
HWY_INLINE void StoreLanes(V v, D d, T* to, All) {
  hn::StoreU(v, d, to);
}

template <class D, class V, typename T = hn::TFromD<D>>
HWY_INLINE void StoreLanes(V v, D d, T* to, First lanes) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(d, lanes.count), d, to);
#else
  HWY_ALIGN T buffer[hn::MaxLanes(d)];
  hn::Store(v, d, buffer);
  std::memcpy(to, buffer, lanes.count * sizeof(T));
#endif
}

// Returns v in the active lanes and `other` in the inactive lanes.
template <class D, class V>
HWY_INLINE V KeepLanes(D, V v, All, V) {
  return v;
}
template <class D, class V>
HWY_INLINE V KeepLanes(D d, V v, First lanes, V other) {
  return hn::IfThenElse(hn::FirstN(d, lanes.count), v, other);
}

template <class D, class Step>
HWY_INLINE void ForLanes(D d, std::int64_t columns, const Step& step) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t column = 0;
  for (; column + lanes <= columns; column += lanes) step(column, All{});
  if (column < columns) step(column, First{static_cast<std::size_t>(columns - column)});
}

// Returns the sum over a row of the vectors that step returns. Four independent sums hide the latency of addition.
template <class D, class Step>
HWY_INLINE hn::TFromD<D> SumOverLanes(D d, std::int64_t columns, const Step& step) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  std::int64_t column = 0;
  for (; column + 4 * lanes <= columns; column += 4 * lanes) {
    sum0 = hn::Add(sum0, step(column, All{}));
    sum1 = hn::Add(sum1, step(column + lanes, All{}));
    sum2 = hn::Add(sum2, step(column + 2 * lanes, All{}));
    sum3 = hn::Add(sum3, step(column + 3 * lanes, All{}));
  }
  for (; column + lanes <= columns; column += lanes) sum0 = hn::Add(sum0, step(column, All{}));
  if (column < columns) {
    const First rest{static_cast<std::size_t>(columns - column)};
    sum1 = hn::Add(sum1, KeepLanes(d, step(column, rest), rest, hn::Zero(d)));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

// Returns the maximum of a row, or -infinity if the row is empty. If the row contains NaN, the result is an element of
// the row or NaN.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE T MaxOverLanes(D d, std::int64_t columns, const T* row) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  auto max0 = lowest, max1 = lowest, max2 = lowest, max3 = lowest;  // four independent maxima hide the latency
  std::int64_t column = 0;
  for (; column + 4 * lanes <= columns; column += 4 * lanes) {
    max0 = hn::Max(max0, hn::LoadU(d, row + column));
    max1 = hn::Max(max1, hn::LoadU(d, row + column + lanes));
    max2 = hn::Max(max2, hn::LoadU(d, row + column + 2 * lanes));
    max3 = hn::Max(max3, hn::LoadU(d, row + column + 3 * lanes));
  }
  ForLanes(d, columns - column, [&](std::int64_t offset, auto which) HWY_ATTR {
    max0 = hn::Max(max0, KeepLanes(d, LoadLanes(d, row + column + offset, which), which, lowest));
  });
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(max0, max1), hn::Max(max2, max3))));
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#endif
