// Adds a tile's bias and its gradient, one row of scores at a time. Included once per target, after hwy/highway.h.
#if defined(HEADLIGHT_KERNELS_PREPARED_BIAS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADLIGHT_KERNELS_PREPARED_BIAS_INL_H_
#undef HEADLIGHT_KERNELS_PREPARED_BIAS_INL_H_
#else
#define HEADLIGHT_KERNELS_PREPARED_BIAS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "headlight/kernels/attention_head.h"
#include "headlight/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kernels::AttentionBias;
using kernels::AttentionHead;
using kernels::BiasIndexing;

template <typename T>
HWY_INLINE void AddRow(const T* from, std::int64_t count, T* to) {
  const hn::ScalableTag<T> d;
  ForLanes(d, count, [&](std::int64_t column, auto lanes) HWY_ATTR {
    StoreLanes(hn::Add(LoadLanes(d, to + column, lanes), LoadLanes(d, from + column, lanes)), d, to + column, lanes);
  });
}

// Returns the distance from a query's position to a key.
template <typename T>
HWY_INLINE std::int64_t Distance(const AttentionHead<T>& head, std::int64_t query, std::int64_t key) {
  return key - (query + head.past);
}

// Computes scores.row(i)[j] += the bias of query first_query + i and key first_key + j, as prepared by PreparedBias.
template <typename T>
HWY_INLINE void AddBiasValues(const AttentionHead<T>& head, std::int32_t first_query, std::int32_t first_key,
                              const Matrix<T>& scores) {
  const AttentionBias<T>& bias = head.input.bias;
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    T* const row = scores.row(i);
    if (bias.by == BiasIndexing::distances) {
      const std::int64_t longest = bias.values.columns / 2, first = Distance(head, first_query + i, first_key);
      const T* const values = bias.values.row(head.head) + longest;  // the value of distance 0
      const std::int64_t near = std::clamp<std::int64_t>(-longest - first, 0, scores.columns);
      const std::int64_t far = std::clamp<std::int64_t>(longest + 1 - first, near, scores.columns);
      for (std::int64_t j = 0; j < near; ++j) row[j] += values[-longest];
      AddRow(values + first + near, far - near, row + near);
      for (std::int64_t j = far; j < scores.columns; ++j) row[j] += values[longest];
      continue;
    }
    if (bias.by == BiasIndexing::keys) {
      AddRow(bias.values.row(head.head) + first_key, scores.columns, row);
      continue;
    }
    const std::int64_t pair = bias.first_pair(head.sequence) + (first_query + i) * head.keys + first_key;
    if (bias.by == BiasIndexing::table) {
      const T* const values = bias.values.row(head.head);
      const std::int32_t* const index = bias.index.data() + pair;
      for (std::int64_t j = 0; j < scores.columns; ++j) row[j] += values[index[j]];
    } else {
      AddRow(bias.values.row(head.head) + pair, scores.columns, row);
    }
  }
}

// Adds the gradient of the scores to d_values, in the layout of the prepared values.
template <typename T>
HWY_INLINE void AddBiasGradient(const AttentionHead<T>& head, std::int32_t first_query, std::int32_t first_key,
                                const Matrix<T>& d_scores) {
  const AttentionBias<T>& bias = head.input.bias;
  if (bias.by == BiasIndexing::distances) {  // sums the tile's diagonals, one per distance
    constexpr std::int32_t most = kernels::kRoundedBackwardQueries + kernels::kRoundedBackwardKeys;
    T sums[most] = {};
    for (std::int64_t i = 0; i < d_scores.rows; ++i)
      AddRow(d_scores.row(i), d_scores.columns, sums + d_scores.rows - 1 - i);
    const std::int64_t longest = bias.values.columns / 2;
    const std::int64_t first = Distance(head, first_query + d_scores.rows - 1, first_key);
    T* const to = bias.d_values.row(head.head) + longest;
    for (std::int64_t k = 0; k < d_scores.rows + d_scores.columns - 1; ++k)
      to[std::clamp<std::int64_t>(first + k, -longest, longest)] += sums[k];
    return;
  }
  for (std::int64_t i = 0; i < d_scores.rows; ++i) {
    const T* const row = d_scores.row(i);
    if (bias.by == BiasIndexing::keys) {
      AddRow(row, d_scores.columns, bias.d_values.row(head.head) + first_key);
      continue;
    }
    const std::int64_t pair = bias.first_pair(head.sequence) + (first_query + i) * head.keys + first_key;
    if (bias.by == BiasIndexing::table) {
      T* const to = bias.d_values.row(head.head);
      const std::int32_t* const index = bias.index.data() + pair;
      for (std::int64_t j = 0; j < d_scores.columns; ++j) to[index[j]] += row[j];
    } else {
      AddRow(row, d_scores.columns, bias.d_values.row(head.head) + pair);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#endif
