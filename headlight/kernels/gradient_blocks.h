// c += a^T b, the gradient of a weight, in blocks of c whose factors fit in the second-level cache in the order that
// the arithmetic wants: a as tiles, b as panels (kernels/panel_product.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "headlight/base/matrix.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/panel_product.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {

// Packing costs a tenth of the multiplying. (Depths of 256 and 512, blocks of 128 rows and of 2 panels were 2 to 5%
// slower.)
inline constexpr std::int64_t kBlockDepth = 384, kBlockRows = 192, kBlockPanels = 4;

// Rows ahead that packing asks for: they lie too far apart for the processor to guess. (It buys a tenth. Asking for all
// of the next block's while this one is multiplied buys no more.)
inline constexpr std::int64_t kRowsAhead = 8;

// `Packed` is what an element of a factor becomes.
//
//   pack_tiles(a, to)                  a's columns in the order of ForTiles(columns), a tile from
//                                      tile * depth * kTileRoom on
//   pack_panel(b, to)                  b's columns, at most a panel of them
//   multiply(tiles, panel, depth, c)   c += their product
//
// An odd depth may be filled up with a zero. Blocks of the depth are added in ascending order, whichever thread has a
// block of c: the sums are the same for any number of threads.
template <typename T, typename Packed, class PackTiles, class PackPanel, class Multiply>
void AddTransposedInBlocks(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, const PackTiles& pack_tiles,
                           const PackPanel& pack_panel, const Multiply& multiply) {
  const auto add_block = [&](Matrix<const T> block_a, Matrix<const T> block_b, Matrix<T> block_c) {
    struct Factors;
    constexpr std::int64_t panel_size = kBlockDepth * kPanelColumns;
    auto* const panel = KeptScratch<Factors, Packed>(panel_size + kBlockDepth * kBlockRows / kTileRows * kTileRoom);
    for (std::int64_t first = 0; first < a.rows; first += kBlockDepth) {
      const std::int64_t depth = std::min(kBlockDepth, a.rows - first);
      pack_tiles(block_a.Rows(first, depth), panel + panel_size);
      for (std::int64_t column = 0; column < block_c.columns; column += kPanelColumns) {
        const std::int64_t columns = std::min(kPanelColumns, block_c.columns - column);
        pack_panel(block_b.Rows(first, depth).Columns(column, columns), panel);
        multiply(panel + panel_size, panel, depth, block_c.Columns(column, columns));
      }
    }
  };
  const std::int64_t down = (c.rows + kBlockRows - 1) / kBlockRows;
  const std::int64_t panels = (c.columns + kPanelColumns - 1) / kPanelColumns;
  const std::int64_t block_panels = std::clamp<std::int64_t>(down * panels / Threads(), 1, kBlockPanels);
  const std::int64_t across = (panels + block_panels - 1) / block_panels;
  ParallelFor(down * across, [&](std::int64_t index) {
    const std::int64_t row = index / across * c.rows / down, rows = (index / across + 1) * c.rows / down - row;
    const std::int64_t column = index % across * panels / across * kPanelColumns;
    const std::int64_t columns = std::min((index % across + 1) * panels / across * kPanelColumns, c.columns) - column;
    add_block(a.Columns(row, rows), b.Columns(column, columns), c.Rows(row, rows).Columns(column, columns));
  });
}

}  // namespace headlight::kernels
