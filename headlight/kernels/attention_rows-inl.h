// Operations on one query's row of scores: the softmax over tiles of keys, and its gradient. Also computes the two
// products of a few queries, for which packing keys is not worth its cost. Included once per target, after
// hwy/highway.h.
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
#include "headlight/kernels/tile_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kernels::HeadRows;

// The columns of a tile that a query attends to: columns before `prefix`, and columns in [begin, end). With a period,
// only columns of [begin, end) with (column - phase) mod period < run are visible, with phase in [0, period).
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

// The dropout of one query's weights.
struct WeightDropout {
  DropoutKey key;
  std::uint32_t threshold;  // 0 for no dropout
  std::uint32_t first_key;  // key of column 0
};

// A softmax over keys that arrive tile by tile (Milakov and Gimelshein, "Online normalizer calculation for softmax",
// 2018): the maximum score so far and the sum of exp(score - max).
template <typename T>
struct RunningSoftmax {
  T max = -std::numeric_limits<T>::infinity();
  T sum = 0;
};

// Computes scores = cap * tanh(scale * scores / cap), in whole vectors, so that every score is computed by the same
// instructions. `slopes` receives the derivatives with respect to scale * score, unless it is null. Not inlined, so
// that the loops of attention without a cap stay small.
template <typename T>
HWY_NOINLINE void CapScores(T* scores, std::int32_t columns, T scale, T cap, T* slopes) {
  const hn::ScalableTag<T> d;
  const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, scale / cap);
  for (std::int32_t column = 0; column < columns; column += lanes) {
    const auto tangent = TanhOf(d, hn::Mul(hn::Load(d, scores + column), factor));
    hn::Store(hn::Mul(tangent, hn::Set(d, cap)), d, scores + column);
    if (slopes != nullptr) hn::Store(hn::NegMulAdd(tangent, tangent, hn::Set(d, T{1})), d, slopes + column);
  }
}

// Computes the first half of the softmax: scales a tile's row of scores, sets masked scores to -infinity, and returns
// the maximum.
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

// Computes the second half of the softmax: replaces scores by exp(score - max), or by 0 if dropped. Returns the factor
// by which earlier sums must be multiplied, because max has grown to at least `tile_max`.
template <typename T>
HWY_INLINE T Exponentiate(T* scores, std::int32_t columns, T tile_max, const WeightDropout& dropout,
                          RunningSoftmax<T>& softmax) {
  const hn::ScalableTag<T> d;
  const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const T max = std::max(softmax.max, tile_max);
  const T base = max == -std::numeric_limits<T>::infinity() ? 0 : max;  // -infinity: all keys so far are masked
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

// Computes the backward pass of a row from its scores and the gradient of its weights. On return, `scores` holds the
// weights, with 0 if dropped; other weights are not yet multiplied by keep_scale. `d_weights` holds the gradient of
// scale * score + bias, which is weight * (d_weight - delta). delta is the dot product of the output and its gradient
// (Dao et al., 2022, appendix B.2).
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

// Computes scores[query][key] = query . (key first + key), for one or more vectors of keys. Keys at or after `count`
// repeat the last key. `groups` vectors of keys at a time are transposed in registers. Each score is summed over the
// dimensions in ascending order, as in Product.
template <std::int32_t queries, std::int32_t groups>
HWY_INLINE void ScoresOfGroups(const float* const* query, const HeadRows<float>& keys, std::int32_t first,
                               std::int32_t count, std::int32_t head_dim, float* const* scores, std::int32_t key) {
  const hn::ScalableTag<float> d;
  constexpr std::int32_t lanes = hn::MaxLanes(d);
  const float* row[groups][lanes];
  for (std::int32_t group = 0; group < groups; ++group)
    for (std::int32_t lane = 0; lane < lanes; ++lane)
      row[group][lane] = keys.row(first + std::min(key + group * lanes + lane, count - 1));
  hn::Vec<decltype(d)> sum[queries][groups];
  for (std::int32_t q = 0; q < queries; ++q)
    for (std::int32_t group = 0; group < groups; ++group) sum[q][group] = hn::Zero(d);
  ForColumns<groups>(d, row, head_dim, [&](std::int32_t dim, std::int32_t group, auto column) HWY_ATTR {
    for (std::int32_t q = 0; q < queries; ++q)
      sum[q][group] = hn::MulAdd(hn::Set(d, query[q][dim]), column, sum[q][group]);
  });
  for (std::int32_t q = 0; q < queries; ++q)
    for (std::int32_t group = 0; group < groups; ++group) hn::Store(sum[q][group], d, scores[q] + key + group * lanes);
}

template <std::int32_t queries>
HWY_INLINE void ScoresOf(const float* const* query, const HeadRows<float>& keys, std::int32_t first, std::int32_t count,
                         std::int32_t head_dim, float* const* scores) {
  constexpr std::int32_t groups = queries <= 2 ? 2 : 1;  // two chains of additions hide the latency
  constexpr std::int32_t lanes = hn::MaxLanes(hn::ScalableTag<float>());
  std::int32_t key = 0;
  for (; key + (groups - 1) * lanes < count; key += groups * lanes)
    ScoresOfGroups<queries, groups>(query, keys, first, count, head_dim, scores, key);
  for (; key < count; key += lanes) ScoresOfGroups<queries, 1>(query, keys, first, count, head_dim, scores, key);
}

// Computes sums[query][dim] += the sum over j < count of weights[query][j] * (row first + j). The sum is computed in
// ascending order and then added, as in Product.
template <std::int32_t queries>
HWY_INLINE void AddWeighted(const float* const* weights, const HeadRows<float>& rows, std::int32_t first,
                            std::int32_t count, std::int32_t dim, float* const* sums) {
  const hn::ScalableTag<float> d;
  constexpr std::int32_t lanes = hn::MaxLanes(d), vectors = queries == 1 || lanes == 16 ? 4 : 2;
  std::int32_t column = 0;
  for (; column + vectors * lanes <= dim; column += vectors * lanes) {
    hn::Vec<decltype(d)> sum[queries][vectors];
    for (std::int32_t q = 0; q < queries; ++q)
      for (std::int32_t v = 0; v < vectors; ++v) sum[q][v] = hn::Zero(d);
    for (std::int32_t j = 0; j < count; ++j) {
      const float* const row = rows.row(first + j) + column;
      for (std::int32_t v = 0; v < vectors; ++v) {
        const auto value = hn::LoadU(d, row + v * lanes);
        for (std::int32_t q = 0; q < queries; ++q) sum[q][v] = hn::MulAdd(hn::Set(d, weights[q][j]), value, sum[q][v]);
      }
    }
    for (std::int32_t q = 0; q < queries; ++q)
      for (std::int32_t v = 0; v < vectors; ++v) {
        float* const to = sums[q] + column + v * lanes;
        hn::Store(hn::Add(sum[q][v], hn::Load(d, to)), d, to);
      }
  }
  ForLanes(d, dim - column, [&](std::int64_t offset, auto which) HWY_ATTR {
    hn::Vec<decltype(d)> sum[queries];
    for (std::int32_t q = 0; q < queries; ++q) sum[q] = hn::Zero(d);
    for (std::int32_t j = 0; j < count; ++j) {
      const auto value = LoadLanes(d, rows.row(first + j) + column + offset, which);
      for (std::int32_t q = 0; q < queries; ++q) sum[q] = hn::MulAdd(hn::Set(d, weights[q][j]), value, sum[q]);
    }
    for (std::int32_t q = 0; q < queries; ++q) {
      float* const to = sums[q] + column + offset;
      hn::Store(hn::Add(sum[q], hn::Load(d, to)), d, to);
    }
  });
}

// Computes to *= factors elementwise.
template <typename T>
HWY_INLINE void MultiplyRow(const T* factors, std::int32_t count, T* to) {
  const hn::ScalableTag<T> d;
  ForLanes(d, count, [&](std::int64_t column, auto lanes) HWY_ATTR {
    const auto product = hn::Mul(LoadLanes(d, to + column, lanes), LoadLanes(d, factors + column, lanes));
    StoreLanes(product, d, to + column, lanes);
  });
}

// Computes to = factor * from, or to += factor * from if `add` is true.
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
