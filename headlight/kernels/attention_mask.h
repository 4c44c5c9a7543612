// Which keys an attention's queries see, as data, so that tiles of queries and keys that do not see one another are
// never computed.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headlight {

// Every condition that is set must hold. Positions are those of the keys: query i of a sentence stands at i + keys -
// queries, so that with a cache the last query stands at the last key.
struct AttentionMask {
  bool causal = false;      // keys up to the query's own position
  std::int32_t left = -1;   // where not negative, keys at most so far before the query
  std::int32_t right = -1;  // where not negative, keys at most so far after it
  // Where positive, keys in the query's own block of so many positions: the rows of a grid of this width.
  std::int32_t block = 0;
  // Where positive, keys at a multiple of this distance: the columns of a grid of this width (Child et al., "Generating
  // Long Sequences with Sparse Transformers", 2019, strided attention).
  std::int32_t stride = 0;

  bool operator==(const AttentionMask&) const = default;
};

struct KeyRange {
  std::int32_t begin = 0, end = 0;
};

// How much of a tile of queries and keys is seen.
enum class TileCover : std::uint8_t { empty, partial, full };

namespace attention_mask {

// The largest multiple of `divisor` (positive) that is at most x.
constexpr std::int64_t RoundDown(std::int64_t x, std::int64_t divisor) {
  return x / divisor * divisor - (x % divisor < 0 ? divisor : 0);
}

}  // namespace attention_mask

// From the first of the sentence's `keys` that the query at `position` sees to the last (but for `stride`, it sees all
// between them); empty where end <= begin. Neither end falls as the position grows.
constexpr KeyRange SeenKeys(const AttentionMask& mask, std::int64_t position, std::int32_t keys) {
  std::int64_t begin = 0, end = keys;
  if (mask.causal) end = std::min(end, position + 1);
  if (mask.left >= 0) begin = std::max(begin, position - mask.left);
  if (mask.right >= 0) end = std::min(end, position + mask.right + 1);
  if (mask.block > 0) {
    const std::int64_t block = attention_mask::RoundDown(position, mask.block);
    begin = std::max(begin, block);
    end = std::min(end, block + mask.block);
  }
  return {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)};
}

// How much of a tile is seen: the queries at [first_position, first_position + positions) and the keys of `tile`, which
// are some of the sentence's `keys`.
constexpr TileCover CoverOf(const AttentionMask& mask, std::int64_t first_position, std::int32_t positions,
                            KeyRange tile, std::int32_t keys) {
  const std::int64_t last_position = first_position + positions - 1;
  const KeyRange first = SeenKeys(mask, first_position, keys), last = SeenKeys(mask, last_position, keys);
  const std::int64_t begin = std::max(first.begin, tile.begin), end = std::min(last.end, tile.end);
  if (begin >= end) return TileCover::empty;
  if (mask.stride > 1) {  // some distance from a position to a key must be a multiple of it
    const std::int64_t farthest = end - 1 - first_position;
    return attention_mask::RoundDown(farthest, mask.stride) >= begin - last_position ? TileCover::partial
                                                                                     : TileCover::empty;
  }
  return first.end >= tile.end && last.begin <= tile.begin ? TileCover::full : TileCover::partial;
}

}  // namespace headlight
