// Operations on a tile of attention, which consists of the scores of some queries and keys, in the thread's scratch
// memory. Included once per target, after hwy/highway.h.
#if defined(HEADLIGHT_KERNELS_ATTENTION_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADLIGHT_KERNELS_ATTENTION_TILE_INL_H_
#undef HEADLIGHT_KERNELS_ATTENTION_TILE_INL_H_
#else
#define HEADLIGHT_KERNELS_ATTENTION_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "headlight/kernels/attention_head.h"
#include "headlight/kernels/attention_rows-inl.h"
#include "headlight/kernels/prepared_bias-inl.h"
#include "headlight/kernels/rows.h"
#include "headlight/kernels/tile_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kernels::AttentionInput;
using kernels::GradientTo;

template <typename T>
HWY_INLINE std::int32_t WholeVectors(std::int32_t columns) {
  const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(hn::ScalableTag<T>()));
  return (columns + lanes - 1) / lanes * lanes;
}

// A packed tile in scratch memory. Its rows consist of whole vectors.
template <typename T>
struct Packed {
  T* data = nullptr;
  std::int32_t stride = 0;
  T* row(std::int32_t index) const { return data + std::ptrdiff_t{index} * stride; }
};

// Allocates aligned pieces of memory that the thread keeps between calls.
template <typename T>
class Scratch {
 public:
  explicit Scratch(std::int64_t elements) {
    struct AttentionScratch;
    T* const memory = KeptScratch<AttentionScratch, T>(elements + kAlignment);
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(memory) / sizeof(T) % kAlignment;
    next_ = memory + (kAlignment - beyond) % kAlignment;
  }
  Packed<T> Take(std::int32_t rows, std::int32_t columns) {
    const Packed<T> piece{next_, WholeVectors<T>(columns)};
    next_ += Size(rows, columns);
    return piece;
  }
  static std::int64_t Size(std::int32_t rows, std::int32_t columns) {
    const std::int64_t elements = std::int64_t{rows} * WholeVectors<T>(columns);
    return (elements + kAlignment - 1) / kAlignment * kAlignment;
  }

 private:
  static constexpr std::int64_t kAlignment = 64 / sizeof(T);  // elements of the widest vector and of a cache line
  T* next_;
};

// Prefetches the next `count` rows of this head, which belong to the next tile or sequence, into the second-level
// cache. Without prefetching, short sequences wait for memory a third of the time. In the first-level cache, rows would
// be evicted before they are used.
template <typename T>
HWY_INLINE void PrefetchNextRows(const HeadRows<T>& rows, std::int32_t first, std::int32_t count, std::int32_t dim) {
  constexpr std::int32_t line = 64 / sizeof(T);
  if (rows.index != nullptr) return;
  for (std::int32_t i = first + count; i < first + 2 * count; ++i)
    for (std::int32_t column = 0; column < dim; column += line) __builtin_prefetch(rows.row(i) + column, 0, 2);
}

// Prefetches entries of a cache into the second-level cache.
template <typename T>
HWY_INLINE void PrefetchEntries(const HeadRows<T>& rows, std::int32_t first, std::int32_t count) {
  for (std::int32_t i = first; i < first + count; ++i) {
    const std::byte* const entry = rows.entry(i);
    for (std::int64_t byte = 0; byte < rows.stride; byte += 64) __builtin_prefetch(entry + byte, 0, 2);
  }
}

// The keys or values of a tile in float.
template <typename T>
struct TileRows {
  HeadRows<T> rows;
  std::int32_t first;
};

// Dequantizes the first `dim` columns of entries to `to` [count, whole vectors]. The results are bit-identical on all
// targets and in scalar code.
template <typename T>
void Widen(const HeadRows<T>& rows, std::int32_t first, std::int32_t count, std::int32_t dim, const Packed<T>& to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const hn::RebindToUnsigned<decltype(d)> d32;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const bool scaled = rows.type == kernels::CacheType::int8;
  const std::int64_t bytes = kernels::EntryBytes<T>(rows.type, dim);
  for (std::int32_t i = 0; i < count; ++i) {
    const std::byte* const entry = rows.entry(first + i);
    for (std::int64_t byte = bytes; byte < 2 * bytes; byte += 64) hwy::Prefetch(entry + byte);  // the next row
    const auto* const halves = reinterpret_cast<const std::uint16_t*>(entry);
    const auto* const integers = reinterpret_cast<const std::int8_t*>(entry + sizeof(float));
    const float scale = scaled ? kernels::ScaleOfEntry(entry) : 1;
    const auto numbers = [&](std::int32_t column) HWY_ATTR {
      if (scaled)
        return hn::Mul(
            hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<decltype(d)>(), hn::LoadU(d8, integers + column))),
            hn::Set(d, scale));
      return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, halves + column))));
    };
    for (std::int32_t column = 0; column < dim; column += lanes) {
      if constexpr (std::is_same_v<T, float>) {
        hn::Store(numbers(column), d, to.row(i) + column);
      } else {
        HWY_ALIGN float widened[hn::MaxLanes(d)];
        hn::Store(numbers(column), d, widened);
        std::copy_n(widened, std::min(lanes, dim - column), to.row(i) + column);
      }
    }
  }
}

// Returns the `count` rows of a tile without copying them. Rows of a bfloat16 or int8 cache are converted into
// `widened`.
template <typename T>
HWY_INLINE TileRows<T> RowsOfTile(const HeadRows<T>& rows, std::int32_t first, std::int32_t count, std::int32_t dim,
                                  const Packed<T>& widened) {
  if (rows.type == kernels::CacheType::unrounded) return {rows, first};
  Widen(rows, first, count, dim, widened);
  return {{.data = widened.data, .stride = widened.stride}, 0};
}

// The queries and keys of one tile: first query, number of queries, first key, number of keys.
struct TileRange {
  std::int32_t query, queries, key, keys;
};

template <typename T>
HWY_INLINE SeenColumns SeenIn(const AttentionHead<T>& head, std::int32_t query, const TileRange& tile) {
  if (!head.masked) return {0, tile.keys};
  const AttentionMask& mask = head.input.mask;
  const std::int32_t position = head.Position(query);
  const auto column = [&](std::int32_t key) { return std::clamp(key - tile.key, 0, tile.keys); };
  const KeyRange range = VisibleKeys(mask, position, head.keys);
  SeenColumns seen = {column(range.begin), column(range.end), column(SeenPrefix(mask, position, head.keys))};
  const KeyPeriod keys = SeenPeriod(mask, position);
  if (keys.period == 0) return seen;
  const std::int32_t distance = (keys.first - tile.key) % keys.period;
  seen.period = keys.period;
  seen.phase = distance < 0 ? distance + keys.period : distance;
  seen.run = keys.run;
  return seen;
}

template <typename T>
HWY_INLINE bool IsFullyMasked(const AttentionHead<T>& head, const TileRange& tile) {
  const std::int32_t first = head.Position(tile.query), last = head.Position(tile.query + tile.queries - 1);
  return head.masked && CoverOf(head.input.mask, first, last - first + 1, {tile.key, tile.key + tile.keys},
                                head.keys) == TileCover::empty;
}

// Calls step with `queries`, at most kFewQueries, as an integral constant.
template <class Step>
HWY_INLINE void ForFew(std::int32_t queries, const Step& step) {
  static_assert(kernels::kFewQueries == 4);
  switch (queries) {
    case 1:
      return step(std::integral_constant<std::int32_t, 1>());
    case 2:
      return step(std::integral_constant<std::int32_t, 2>());
    case 3:
      return step(std::integral_constant<std::int32_t, 3>());
    default:
      return step(std::integral_constant<std::int32_t, 4>());
  }
}

// Returns true if keys and values are used without packing them.
template <typename T>
constexpr bool ReadsUnpacked(std::int32_t queries) {
  return std::is_same_v<T, float> && queries <= kernels::kFewQueries;
}

// Computes scores[queries, keys in whole vectors] = query . key, unscaled. `packed` is scratch memory for the keys
// [head_dim, keys].
template <typename T>
HWY_INLINE void TileScores(const AttentionHead<T>& head, const TileRange& tile, const TileRows<T>& keys,
                           const Packed<T>& packed, const Packed<T>& scores) {
  const std::int32_t columns = WholeVectors<T>(tile.keys);
  if constexpr (std::is_same_v<T, float>)
    if (ReadsUnpacked<T>(tile.queries)) {
      ForFew(tile.queries, [&](auto queries) HWY_ATTR {
        const float* query[queries];
        float* to[queries];
        for (std::int32_t i = 0; i < queries; ++i) {
          query[i] = head.query.row(tile.query + i);
          to[i] = scores.row(i);
        }
        ScoresOf<queries>(query, keys.rows, keys.first, tile.keys, head.head_dim, to);
      });
      return;
    }
  PackTransposed(keys.rows, keys.first, tile.keys, head.head_dim, packed.data, columns);
  Product<false, T>({head.query.row(tile.query), head.query.stride, packed.data, columns, scores.data, scores.stride,
                     head.head_dim, false},
                    tile.queries, columns);
}

// Computes sums[queries, value_dim] += weights[queries, keys] * values. `packed` is scratch memory for the values
// [keys, value_dim].
template <typename T>
HWY_INLINE void AddValues(const AttentionHead<T>& head, const TileRange& tile, const Packed<T>& weights,
                          const TileRows<T>& values, const Packed<T>& packed, const Packed<T>& sums) {
  if constexpr (std::is_same_v<T, float>)
    if (ReadsUnpacked<T>(tile.queries)) {
      ForFew(tile.queries, [&](auto queries) HWY_ATTR {
        const float* from[queries];
        float* to[queries];
        for (std::int32_t i = 0; i < queries; ++i) {
          from[i] = weights.row(i);
          to[i] = sums.row(i);
        }
        AddWeighted<queries>(from, values.rows, values.first, tile.keys, head.value_dim, to);
      });
      return;
    }
  PackRows(values.rows, values.first, tile.keys, head.value_dim, packed.data, packed.stride);
  Product<false, T>({weights.data, weights.stride, packed.data, packed.stride, sums.data, sums.stride, tile.keys, true},
                    tile.queries, WholeVectors<T>(head.value_dim));
}

template <typename T>
HWY_INLINE WeightDropout DropoutOf(const AttentionHead<T>& head, std::int32_t query, std::int32_t key) {
  if (head.dropout_threshold == 0) return {};
  return {RowDropoutKey(head.dropout_seed, static_cast<std::uint64_t>(query)), head.dropout_threshold,
          static_cast<std::uint32_t>(key)};
}

// Sets the scores of keys that are not present to -infinity.
template <typename T>
HWY_INLINE void HideAbsent(const AttentionHead<T>& head, const TileRange& tile, const Packed<T>& scores) {
  for (std::int32_t j = 0; j < tile.keys; ++j) {
    const std::int32_t position = head.key_rows.row(tile.key + j);
    const std::int32_t row =
        head.input.key_rows.empty() ? position : head.input.key_rows[static_cast<std::size_t>(position)];
    if (head.input.present[static_cast<std::size_t>(row)] != 0) continue;
    for (std::int32_t i = 0; i < tile.queries; ++i) scores.row(i)[j] = -std::numeric_limits<T>::infinity();
  }
}

// Returns the scale that must still be applied to the scores. If there is a cap, a bias, or a key that is not present,
// scales the scores, caps them, adds the bias, and hides absent keys. With a cap, `slopes` receives the derivatives of
// the cap if it has data.
template <typename T>
HWY_INLINE T CapAndAddBias(const AttentionHead<T>& head, const TileRange& tile, const Packed<T>& scores,
                           const Packed<T>& slopes = {}) {
  const AttentionBias<T>& bias = head.input.bias;
  const T cap = head.input.score_cap;
  if (bias.empty() && head.input.present.empty() && cap == 0) return head.input.scale;
  for (std::int32_t i = 0; i < tile.queries; ++i) {
    if (cap > 0)
      CapScores(scores.row(i), WholeVectors<T>(tile.keys), head.input.scale, cap,
                slopes.data == nullptr ? nullptr : slopes.row(i));
    else
      StoreScaled(scores.row(i), head.input.scale, tile.keys, false, scores.row(i));
  }
  const Matrix<T> to{scores.data, tile.queries, tile.keys, scores.stride};
  if (bias.values.data != nullptr) AddBiasValues(head, tile.query, tile.key, to);
  if (bias.computed != nullptr) bias.computed->Add({head.sequence, head.head, tile.query, tile.key}, to);
  if (!head.input.present.empty()) HideAbsent(head, tile, scores);
  return 1;
}

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#endif
