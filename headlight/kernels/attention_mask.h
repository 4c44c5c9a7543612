// Describes which keys each query attends to, as data, so that tiles without a visible pair are never computed.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headlight {

/// A query attends to the keys that fulfill all conditions that are set. Positions refer to keys: query i of a sequence
/// is at position i + keys - queries. With a cache, the last query is therefore at the position of the last key.
struct AttentionMask {
  bool causal = false;      ///< if true, only keys up to the query's own position
  std::int32_t left = -1;   ///< if not negative, only keys at most this far before the query
  std::int32_t right = -1;  ///< if not negative, only keys at most this far after the query
  /// If positive, a query attends only to keys in the same block of this many positions. Such blocks are the rows of a
  /// grid of this width.
  std::int32_t block = 0;
  /// If positive, a query attends to keys at multiples of this distance, such as the columns of a grid of this width
  /// (Child et al., "Generating Long Sequences with Sparse Transformers", 2019, strided attention).
  std::int32_t stride = 0;
  /// If positive, a query attends to a square of `window` rows and columns, in a grid with rows of `width` cells. The
  /// query is in the lower right corner of the square. Cannot be combined with a stride.
  std::int32_t window = 0, width = 0;
  /// Keys at the first `prefix` positions are visible unless `causal` hides them, for example a text before an image.
  /// Other conditions apply only to later keys, with positions relative to the end of the prefix.
  std::int32_t prefix = 0;

  bool operator==(const AttentionMask&) const = default;
};

/// The keys [begin, end).
struct KeyRange {
  std::int32_t begin = 0, end = 0;
};

/// The visible part of a tile of queries and keys: no pairs, some pairs or all pairs.
enum class TileCover : std::uint8_t { empty, partial, full };

namespace attention_mask {

/// Returns the largest multiple of `divisor` (positive) that is at most x.
constexpr std::int64_t RoundDown(std::int64_t x, std::int64_t divisor) {
  return x / divisor * divisor - (x % divisor < 0 ? divisor : 0);
}

}  // namespace attention_mask

/// Returns the number of prefix keys that the query at `position` attends to.
constexpr std::int32_t SeenPrefix(const AttentionMask& mask, std::int64_t position, std::int32_t keys) {
  const std::int64_t last = mask.causal ? std::min<std::int64_t>(keys, position + 1) : keys;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(last, 0, mask.prefix));
}

/// Returns the range of keys after the prefix that the query at `position` attends to. The range is empty if end <=
/// begin. All keys in the range are visible, except with `stride` or `window`. Both ends are nondecreasing in the
/// position.
constexpr KeyRange VisibleKeys(const AttentionMask& mask, std::int64_t position, std::int32_t keys) {
  position -= mask.prefix;
  std::int64_t begin = 0, end = std::int64_t{keys} - mask.prefix;
  if (mask.causal) end = std::min(end, position + 1);
  if (mask.left >= 0) begin = std::max(begin, position - mask.left);
  if (mask.right >= 0) end = std::min(end, position + mask.right + 1);
  if (mask.block > 0) {
    const std::int64_t block = attention_mask::RoundDown(position, mask.block);
    begin = std::max(begin, block);
    end = std::min(end, block + mask.block);
  }
  if (mask.window > 0) {
    const std::int64_t row = attention_mask::RoundDown(position, mask.width);
    begin = std::max(begin, row - std::int64_t{mask.window - 1} * mask.width);
    end = std::min(end, position + 1);
  }
  return {static_cast<std::int32_t>(begin + mask.prefix), static_cast<std::int32_t>(end + mask.prefix)};
}

/// Selects the keys of a range with (key - first) mod period < run, with first in [0, period). If the period is 0,
/// selects all keys.
struct KeyPeriod {
  std::int32_t period = 0, first = 0, run = 1;
};

constexpr KeyPeriod SeenPeriod(const AttentionMask& mask, std::int64_t position) {
  const auto of = [&](std::int64_t key, std::int32_t period, std::int64_t run) -> KeyPeriod {
    return {period, static_cast<std::int32_t>(key - attention_mask::RoundDown(key, period)),
            static_cast<std::int32_t>(run)};
  };
  if (mask.stride > 1) return of(position, mask.stride, 1);
  if (mask.window == 0) return {};
  const std::int64_t in_grid = position - mask.prefix;
  const std::int64_t column = in_grid - attention_mask::RoundDown(in_grid, mask.width);
  const std::int64_t first = std::max<std::int64_t>(0, column - mask.window + 1);
  return of(first + mask.prefix, mask.width, column - first + 1);
}

/// Determines if all, some or none of the pairs of a tile are visible. The queries are at [first_position,
/// first_position + positions). `tile` is a range of the sequence's `keys`.
constexpr TileCover CoverOf(const AttentionMask& mask, std::int64_t first_position, std::int32_t positions,
                            KeyRange tile, std::int32_t keys) {
  const std::int64_t last_position = first_position + positions - 1;
  if (tile.begin < SeenPrefix(mask, last_position, keys))
    return tile.end <= SeenPrefix(mask, first_position, keys) ? TileCover::full : TileCover::partial;
  const KeyRange first = VisibleKeys(mask, first_position, keys), last = VisibleKeys(mask, last_position, keys);
  const std::int64_t begin = std::max(first.begin, tile.begin), end = std::min(last.end, tile.end);
  if (begin >= end) return TileCover::empty;
  if (mask.stride > 1) {  // the distance between some position and some key must be a multiple of the stride
    const std::int64_t farthest = end - 1 - first_position;
    return attention_mask::RoundDown(farthest, mask.stride) >= begin - last_position ? TileCover::partial
                                                                                     : TileCover::empty;
  }
  if (mask.window > 0) return TileCover::partial;
  return first.end >= tile.end && last.begin <= tile.begin ? TileCover::full : TileCover::partial;
}

}  // namespace headlight
