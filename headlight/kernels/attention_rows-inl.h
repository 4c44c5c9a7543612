// One query's row of scores: the softmax over tiles of keys, and its gradient; and the two products of a single query,
// for which packing keys would cost more than it gains. Once per target, after hwy/highway.h.
#if defined(HEADLIGHT_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADLIGHT_KERNELS_ATTENTION_ROWS_INL_H_
#undef HEADLIGHT_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define HEADLIGHT_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "headlight/kernels/attention_head.h"
#include "headlight/kernels/dropout_hash-inl.h"
#include "headlight/kernels/functions-inl.h"
#include "headlight/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kernels::HeadRows;

// The columns of a tile's row that its query sees: those before `prefix`, and [begin, end); with a period only the
// `run` columns from `phase`, which is in [0, period), and from every multiple of the period after it.
struct SeenColumns {
  std::int32_t begin, end, prefix = 0;
  std::int32_t period = 0, phase = 0, run = 1;

  bool HoldsVectorAt(std::int32_t column, std::int32_t lanes) const {
    return column + lanes <= prefix || (begin <= column && column + lanes <= end && period == 0);
  }
  template <class D>
  HWY_INLINE hn::Mask<D> MaskAt(D d, std::int32_t column) const {
    using T = hn::TFromD<D>;
    const auto columns = hn::Iota(d, static_cast<T>(column));
    auto seen =
        hn::And(hn::Ge(columns, hn::Set(d, static_cast<T>(begin))), hn::Lt(columns, hn::Set(d, static_cast<T>(end))));
    if (period > 0) {
      const auto distance = hn::Sub(columns, hn::Set(d, static_cast<T>(phase)));
      const auto length = hn::Set(d, static_cast<T>(period));
      const auto place = hn::NegMulAdd(hn::Floor(hn::Div(distance, length)), length, distance);
      seen = hn::And(seen, hn::Lt(place, hn::Set(d, static_cast<T>(run))));
    }
    return prefix > 0 ? hn::Or(seen, hn::Lt(columns, hn::Set(d, static_cast<T>(prefix)))) : seen;
  }
};

// Dropout of one query's weights.
struct WeightDropout {
  DropoutKey key;
  std::uint32_t threshold;  // 0: none
  std::uint32_t first_key;  // that of column 0
};

// A softmax over keys that arrive tile by tile (Milakov and Gimelshein, "Online normalizer calculation for softmax",
// 2018): the greatest score so far and the sum of exp(score - max).
template <typename T>
struct RunningSoftmax {
  T max = -std::numeric_limits<T>::infinity();
  T sum = 0;
};

// The first half of a softmax: scales a tile's row of scores, hides what is not seen behind -infinity, and returns the
// greatest.
template <typename T>
HWY_INLINE T ScaleAndMask(T* scores, std::int32_t columns, SeenColumns seen, T scale) {
  const hn::ScalableTag<T> d;
  const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  auto maxima = lowest;
  for (std::int32_t column = 0; column < columns; column += lanes) {
    auto score = hn::Mul(hn::Load(d, scores + column), hn::Set(d, scale));
    if (!seen.HoldsVectorAt(column, lanes)) score = hn::IfThenElse(seen.MaskAt(d, column), score, lowest);
    hn::Store(score, d, scores + column);
    maxima = hn::Max(maxima, score);
  }
  return hn::GetLane(hn::MaxOfLanes(d, maxima));
}

// The second half: turns them into exp(score - max), 0 where dropped. Returns what earlier sums must be multiplied by,
// now that max has grown to at least `tile_max`.
template <typename T>
HWY_INLINE T Exponentiate(T* scores, std::int32_t columns, T tile_max, const WeightDropout& dropout,
                          RunningSoftmax<T>& softmax) {
  const hn::ScalableTag<T> d;
  const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const T max = std::max(softmax.max, tile_max);
  const T base = max == -std::numeric_limits<T>::infinity() ? 0 : max;  // nothing seen yet
  auto sums = hn::Zero(d);
  for (std::int32_t column = 0; column < columns; column += lanes) {
    auto weight = WeightOf(d, hn::Sub(hn::Load(d, scores + column), hn::Set(d, base)));
    sums = hn::Add(sums, weight);
    if (dropout.threshold != 0) {
      const std::uint32_t key = dropout.first_key + static_cast<std::uint32_t>(column);
      weight = hn::IfThenZeroElse(DropoutDrops(d, dropout.key, key, dropout.threshold), weight);
    }
    hn::Store(weight, d, scores + column);
  }
  const T factor = softmax.sum == 0 ? 0 : softmax.max == max ? 1 : std::exp(softmax.max - base);
  softmax = {max, softmax.sum * factor + hn::GetLane(hn::SumOfLanes(d, sums))};
  return factor;
}

// The same row on the way back. In: scores and the gradient of the weights. Out: in `scores` the weights, 0 where
// dropped (kept ones still to be multiplied by keep_scale); in `d_weights` the gradient of scale * score + bias, which
// is weight * (d_weight - delta), delta = the output's product with its gradient (Dao et al., 2022, appendix B.2).
template <typename T>
HWY_INLINE void SoftmaxRowGradient(T* scores, T* d_weights, std::int32_t columns, SeenColumns seen, T scale,
                                   const WeightDropout& dropout, T keep_scale, T log_sum_exp, T delta) {
  const hn::ScalableTag<T> d;
  const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(d));
  for (std::int32_t column = 0; column < columns; column += lanes) {
    auto weight = WeightOf(d, hn::MulSub(hn::Load(d, scores + column), hn::Set(d, scale), hn::Set(d, log_sum_exp)));
    auto kept = weight;
    auto d_weight = hn::Load(d, d_weights + column);
    if (dropout.threshold != 0) {
      const std::uint32_t key = dropout.first_key + static_cast<std::uint32_t>(column);
      const auto drops = DropoutDrops(d, dropout.key, key, dropout.threshold);
      kept = hn::IfThenZeroElse(drops, kept);
      d_weight = hn::IfThenZeroElse(drops, hn::Mul(d_weight, hn::Set(d, keep_scale)));
    }
    auto d_score = hn::Mul(weight, hn::Sub(d_weight, hn::Set(d, delta)));
    if (!seen.HoldsVectorAt(column, lanes)) {
      const auto mask = seen.MaskAt(d, column);
      kept = hn::IfThenElseZero(mask, kept);
      d_score = hn::IfThenElseZero(mask, d_score);
    }
    hn::Store(kept, d, scores + column);
    hn::Store(d_score, d, d_weights + column);
  }
}

template <typename T>
HWY_INLINE T DotOf(const T* a, const T* b, std::int32_t count) {
  const hn::ScalableTag<T> d;
  return SumOverLanes(d, count, [&](std::int64_t column, auto lanes) HWY_ATTR {
    return hn::Mul(LoadLanes(d, a + column, lanes), LoadLanes(d, b + column, lanes));
  });
}

#if HWY_TARGET != HWY_SCALAR
// to[i] = the sum of the lanes of vi, in float.
template <class D, class V>
HWY_INLINE void StoreSumsOfLanes(D d, V v0, V v1, V v2, V v3, float* to) {
  const hn::RepartitionToWide<D> pairs;
  const auto v01 = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, v0, v1), hn::InterleaveUpper(d, v0, v1)));
  const auto v23 = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, v2, v3), hn::InterleaveUpper(d, v2, v3)));
  // In each block of four lanes now the sums of that block of v0, v1, v2 and v3.
  auto sums = hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, v01, v23)),
                      hn::BitCast(d, hn::InterleaveUpper(pairs, v01, v23)));
  if constexpr (hn::MaxLanes(D()) == 16) {
    const hn::Half<D> half;
    const hn::Half<decltype(half)> quarter;
    const auto halves = hn::Add(hn::LowerHalf(half, sums), hn::UpperHalf(half, sums));
    hn::StoreU(hn::Add(hn::LowerHalf(quarter, halves), hn::UpperHalf(quarter, halves)), quarter, to);
  } else if constexpr (hn::MaxLanes(D()) == 8) {
    const hn::Half<D> half;
    hn::StoreU(hn::Add(hn::LowerHalf(half, sums), hn::UpperHalf(half, sums)), half, to);
  } else {
    hn::StoreU(sums, d, to);
  }
}
#endif

// scores[j] = query . key first + j, for j < count; then zeros.
template <typename T>
HWY_INLINE void ScoresOfOne(const T* query, const HeadRows<T>& keys, std::int32_t first, std::int32_t count,
                            std::int32_t head_dim, std::int32_t columns, T* scores) {
  std::int32_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {  // four keys at once share the work of adding up lanes
    const hn::ScalableTag<T> d;
    for (; j + 4 <= count; j += 4) {
      const T* const key[4] = {keys.row(first + j), keys.row(first + j + 1), keys.row(first + j + 2),
                               keys.row(first + j + 3)};
      auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
      ForLanes(d, head_dim, [&](std::int64_t column, auto lanes) HWY_ATTR {
        const auto factor = LoadLanes(d, query + column, lanes);
        sum0 = hn::MulAdd(factor, LoadLanes(d, key[0] + column, lanes), sum0);
        sum1 = hn::MulAdd(factor, LoadLanes(d, key[1] + column, lanes), sum1);
        sum2 = hn::MulAdd(factor, LoadLanes(d, key[2] + column, lanes), sum2);
        sum3 = hn::MulAdd(factor, LoadLanes(d, key[3] + column, lanes), sum3);
      });
      StoreSumsOfLanes(d, sum0, sum1, sum2, sum3, scores + j);
    }
  }
#endif
  for (; j < count; ++j) scores[j] = DotOf(query, keys.row(first + j), head_dim);
  std::fill(scores + count, scores + columns, T{0});
}

// sum[dim] += the sum of weights[j] * row first + j, for j < count.
template <typename T>
HWY_INLINE void AddWeighted(const T* weights, const HeadRows<T>& rows, std::int32_t first, std::int32_t count,
                            std::int32_t dim, T* sum) {
  const hn::ScalableTag<T> d;
  const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(d));
  std::int32_t column = 0;
  for (; column + 2 * lanes <= dim; column += 2 * lanes) {  // two sums for even rows and two for odd hide the latency
    auto even0 = hn::Load(d, sum + column), even1 = hn::Load(d, sum + column + lanes);
    auto odd0 = hn::Zero(d), odd1 = hn::Zero(d);
    std::int32_t j = 0;
    for (; j + 2 <= count; j += 2) {
      const T *const even = rows.row(first + j) + column, *const odd = rows.row(first + j + 1) + column;
      even0 = hn::MulAdd(hn::Set(d, weights[j]), hn::LoadU(d, even), even0);
      even1 = hn::MulAdd(hn::Set(d, weights[j]), hn::LoadU(d, even + lanes), even1);
      odd0 = hn::MulAdd(hn::Set(d, weights[j + 1]), hn::LoadU(d, odd), odd0);
      odd1 = hn::MulAdd(hn::Set(d, weights[j + 1]), hn::LoadU(d, odd + lanes), odd1);
    }
    if (j < count) {
      const T* const even = rows.row(first + j) + column;
      even0 = hn::MulAdd(hn::Set(d, weights[j]), hn::LoadU(d, even), even0);
      even1 = hn::MulAdd(hn::Set(d, weights[j]), hn::LoadU(d, even + lanes), even1);
    }
    hn::Store(hn::Add(even0, odd0), d, sum + column);
    hn::Store(hn::Add(even1, odd1), d, sum + column + lanes);
  }
  ForLanes(d, dim - column, [&](std::int64_t offset, auto which) HWY_ATTR {
    auto total = hn::Load(d, sum + column + offset);
    for (std::int32_t j = 0; j < count; ++j) {
      const auto row = LoadLanes(d, rows.row(first + j) + column + offset, which);
      total = hn::MulAdd(hn::Set(d, weights[j]), row, total);
    }
    hn::Store(total, d, sum + column + offset);
  });
}

// to = factor * from, or is added to.
template <typename T>
HWY_INLINE void StoreScaled(const T* from, T factor, std::int32_t count, bool add, T* to) {
  const hn::ScalableTag<T> d;
  ForLanes(d, count, [&](std::int64_t column, auto lanes) HWY_ATTR {
    auto value = hn::Mul(LoadLanes(d, from + column, lanes), hn::Set(d, factor));
    if (add) value = hn::Add(value, LoadLanes(d, to + column, lanes));
    StoreLanes(value, d, to + column, lanes);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#endif
