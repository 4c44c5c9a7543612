// The data layout of products: panels of the right-hand side, tiles of the result, and prefetching.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// The number of columns of a panel. Missing columns are zeros. In float, a panel is [depth][64].
inline constexpr std::int64_t kPanelColumns = 64;

/// The maximum number of rows of the result whose sums are kept in registers together, over the whole depth.
inline constexpr std::int32_t kTileRows = 6;
/// The size of one step of the depth in a packed tile of a^T: a whole vector.
inline constexpr std::int64_t kTileRoom = 8;
static_assert(kTileRows <= kTileRoom);

constexpr std::int64_t TilesOf(std::int64_t rows, std::int64_t most = kTileRows) { return (rows + most - 1) / most; }

/// Calls body(index, first row, rows) for tiles of similar heights. For example, 7 rows become tiles of 4 and 3 rows,
/// not 6 and 1.
template <std::int64_t most = kTileRows, class Body>
inline void ForTiles(std::int64_t rows, const Body& body) {
  const std::int64_t tiles = TilesOf(rows, most);
  for (std::int64_t tile = 0, row = 0; tile < tiles; ++tile) {
    const std::int64_t its_rows = rows / tiles + (tile < rows % tiles ? 1 : 0);
    body(tile, row, its_rows);
    row += its_rows;
  }
}

/// The prefetch schedule of a tile: one cache line per step of the depth. Prefetching all lines at once delays these
/// lines and the operands, and is 10% slower.
struct Lines {
  static constexpr std::ptrdiff_t kBytes = 64;

  const char* first;
  std::ptrdiff_t apart;  ///< distance between lines in bytes
  std::int64_t count;
};

class LineList {
 public:
  void Add(const void* first, std::int64_t count, std::ptrdiff_t apart = Lines::kBytes) {
    if (end_ != lines_ + kMost) *end_++ = {static_cast<const char*>(first), apart, count};
  }
  template <typename T>
  void AddRow(const T* first, std::int64_t count) {
    Add(first, (count * std::int64_t{sizeof(T)} + Lines::kBytes - 1) / Lines::kBytes);
  }
  /// Returns the lines, followed by `count` prefetches of a line that is already in the cache.
  const Lines* Finish(const void* there, std::int64_t count) {
    *end_ = {static_cast<const char*>(there), 0, count};
    return lines_;
  }

 private:
  static constexpr int kMost = 36;
  Lines lines_[kMost + 1];
  Lines* end_ = lines_;
};

/// Prefetches rows of `source`, if they exist. Packing reads lines that are too far apart for the hardware prefetcher.
template <typename T>
void Prefetch(Matrix<const T> source, std::int64_t row, std::int64_t count) {
  constexpr std::int64_t line = Lines::kBytes / sizeof(T);
  for (const std::int64_t end = std::min(row + count, source.rows); row < end; ++row)
    for (std::int64_t column = 0; column < source.columns; column += line) __builtin_prefetch(source.row(row) + column);
}
inline constexpr std::int64_t kRowsAhead = 8;  ///< number of rows by which prefetching is ahead of packing

}  // namespace headlight::kernels
