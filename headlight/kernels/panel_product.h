// Products in floating point with a panel: some columns of a right-hand side, in the order the arithmetic wants them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// Columns of a panel, filled up with zeros: for float [depth][64].
inline constexpr std::int64_t kPanelColumns = 64;

// Rows of the result whose sums stay in registers together, while the depth goes by.
inline constexpr std::int32_t kTileRows = 6;
// Room for a tile's rows of a^T, one after another for each step of the depth: what one move copies.
inline constexpr std::int64_t kTileRoom = 8;
static_assert(kTileRows <= kTileRoom);

constexpr std::int64_t TilesOf(std::int64_t rows) { return (rows + kTileRows - 1) / kTileRows; }

// Calls body(index, first row, rows) for tiles of even heights: 7 rows are 4 and 3, not 6 and 1.
template <class Body>
inline void ForTiles(std::int64_t rows, const Body& body) {
  const std::int64_t tiles = TilesOf(rows);
  for (std::int64_t tile = 0, row = 0; tile < tiles; ++tile) {
    const std::int64_t its_rows = rows / tiles + (tile < rows % tiles ? 1 : 0);
    body(tile, row, its_rows);
    row += its_rows;
  }
}

// Lines of memory that a tile asks for while the depth goes by, one a step: many at once hold up one another and the
// factors, which cost a tenth.
struct Lines {
  static constexpr std::ptrdiff_t kBytes = 64;

  const char* first;
  std::ptrdiff_t apart;  // bytes
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
  // The lines, and then so many times one that is there already.
  const Lines* Finish(const void* there, std::int64_t count) {
    *end_ = {static_cast<const char*>(there), 0, count};
    return lines_;
  }

 private:
  static constexpr int kMost = 36;
  Lines lines_[kMost + 1];
  Lines* end_ = lines_;
};

// What becomes of a product's sums.
template <typename T>
struct Ending {
  const T* bias = nullptr;  // of the panel's columns, added where there is one
  bool relu = false;        // whether negative results become 0
  bool accumulate = false;  // whether they are added to what is there; then without bias and relu
};

// Asks for rows, as many of them as there are; packing reads lines too far apart for the processor to guess.
template <typename T>
void Prefetch(Matrix<const T> source, std::int64_t row, std::int64_t count) {
  constexpr std::int64_t line = Lines::kBytes / sizeof(T);
  for (const std::int64_t end = std::min(row + count, source.rows); row < end; ++row)
    for (std::int64_t column = 0; column < source.columns; column += line) __builtin_prefetch(source.row(row) + column);
}
inline constexpr std::int64_t kRowsAhead = 8;  // of what is packed

// Makes a panel of its columns, or, where `transposed`, of as many rows.
template <typename T>
void PackPanel(Matrix<const T> source, bool transposed, T* panel);

// c = a * b, of which c has as many columns as there are in the panels that lie side by side from `panels` on. A tile
// of c keeps its rows of a in the first-level cache while the panels, which a second-level cache should hold, go by.
// Each element is one sum over the depth in ascending order, so that its bits depend on nothing but its row and its
// column. Asks meanwhile for as many panels from `next` on, unless that is null.
template <typename T>
void PanelProduct(Matrix<const T> a, const T* panels, Matrix<T> c, const Ending<T>& ending, const T* next);

// c += a^T b: a [rows, m], b [rows, n], c [m, n].
template <typename T>
void AddTransposedProduct(Matrix<const T> a, Matrix<const T> b, Matrix<T> c);

}  // namespace headlight::kernels
