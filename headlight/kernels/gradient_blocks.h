// c += a^T b, the gradient of a weight, in blocks of c whose packed factors fit in the second-level cache: a as tiles,
// b as panels (kernels/panel_product.h). The factors of the next block are prefetched during the products and packed in
// shares between tiles.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "headlight/base/matrix.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/panel_product.h"
#include "headlight/kernels/rows.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

// (Blocks of 128 rows were 10% slower with bfloat16; those of 256 did not divide evenly between two threads.)
inline constexpr std::int64_t kBlockRows = 192, kBlockPanels = 4;

// The rows of b and of a to be packed next.
template <typename T>
using ToPack = std::array<Matrix<const T>, 2>;

// The rows that can be prefetched: the taps of a convolution are not adjacent lines.
template <typename T>
Matrix<const T> InMemory(const Matrix<const T>& rows) {
  return rows;
}
template <typename T>
Matrix<const T> InMemory(const UnfoldedPart<T>&) {
  return {};
}

// b is a Matrix<const T>, or an UnfoldedPart<T>. Packing describes the packed layout:
//
//   Number                                   the packed type of an element
//   kDepth                                   rows of a and b in a block
//   TileSize(depth)                          numbers in a tile
//   PackTiles(a, first, tile_size, to)       packs rows first, first + 1, ... of a block into the tiles of its columns,
//   kTogether                                at most this many at once, from a multiple of it on
//   PackPanel(b, first, to)                  the same for any number of rows, into a panel of at most kPanelColumns
//   Multiply(tile, panel, depth, c, next)    c += their product; prefetches `next`
//
// Blocks of the depth are added in ascending order: the sums are the same for any number of threads.
template <class Packing, typename T, class Right>
void AddTransposedInBlocks(Matrix<const T> a, Right b, Matrix<T> c) {
  struct Block {
    Matrix<const T> a;
    Right b;
    Matrix<T> c;

    std::int64_t panels() const { return (c.columns + kPanelColumns - 1) / kPanelColumns; }
    Right Panel(std::int64_t index) const {
      const std::int64_t column = index * kPanelColumns;
      return b.Columns(column, std::min(kPanelColumns, b.columns - column));
    }
  };
  const std::int64_t panels = (c.columns + kPanelColumns - 1) / kPanelColumns;
  std::int64_t down = (c.rows + kBlockRows - 1) / kBlockRows;
  const std::int64_t block_panels = std::clamp<std::int64_t>(down * panels / Threads(), 1, kBlockPanels);
  const std::int64_t across = (panels + block_panels - 1) / block_panels;
  // With few blocks per thread, each thread should have the same number.
  while (down * across < 4 * Threads() && down * across % Threads() != 0 && down < TilesOf(c.rows)) ++down;
  const std::int64_t pieces = (a.rows + Packing::kDepth - 1) / Packing::kDepth;  // of the depth
  const auto block = [&](std::int64_t index) -> Block {                          // all pieces of one after another
    const std::int64_t first = index % pieces * Packing::kDepth, depth = std::min(Packing::kDepth, a.rows - first);
    index /= pieces;
    const std::int64_t row = index / across * c.rows / down, rows = (index / across + 1) * c.rows / down - row;
    const std::int64_t column = index % across * panels / across * kPanelColumns;
    const std::int64_t columns = std::min((index % across + 1) * panels / across * kPanelColumns, c.columns) - column;
    return {a.Rows(first, depth).Columns(row, rows), b.Rows(first, depth).Columns(column, columns),
            c.Rows(row, rows).Columns(column, columns)};
  };
  const auto share = [](const auto& rows, std::int64_t index, std::int64_t count) {
    const std::int64_t groups = (rows.rows + Packing::kTogether - 1) / Packing::kTogether;
    const std::int64_t begin = groups * index / count * Packing::kTogether;
    const std::int64_t end = std::min(groups * (index + 1) / count * Packing::kTogether, rows.rows);
    return std::pair(begin, rows.Rows(begin, end - begin));
  };
  const auto pack_tiles = [](Matrix<const T> rows, std::int64_t first, std::int64_t tile_size, auto* to) {
    for (std::int64_t row = 0; row < rows.rows; row += Packing::kTogether) {
      Prefetch(rows, row + kRowsAhead, Packing::kTogether);
      Packing::PackTiles(rows.Rows(row, std::min(Packing::kTogether, rows.rows - row)), first + row, tile_size, to);
    }
  };

  std::atomic<std::int64_t> taken = 0;
  const std::int64_t end = down * across * pieces;
  const auto take = [&] { return std::min(taken++ * pieces, end); };
  ParallelFor(Threads(), [&](std::int64_t) {
    struct Factors;
    constexpr std::int64_t panel_size = Packing::kDepth * kPanelColumns;
    constexpr std::int64_t tiles_size = TilesOf(kBlockRows) * Packing::TileSize(Packing::kDepth);
    auto* panel = KeptScratch<Factors, typename Packing::Number>(2 * panel_size + 2 * tiles_size);
    auto *next_panel = panel + panel_size, *tiles = panel + 2 * panel_size, *next_tiles = tiles + tiles_size;
    std::int64_t index = take();
    if (index == end) return;
    Block now = block(index);
    pack_tiles(now.a, 0, Packing::TileSize(now.a.rows), tiles);
    Packing::PackPanel(now.Panel(0), 0, panel);
    while (index != end) {
      index = (index + 1) % pieces != 0 ? index + 1 : take();
      const Block next = index == end ? Block{} : block(index);
      const std::int64_t depth = now.a.rows, count = TilesOf(now.c.rows);
      for (std::int64_t p = 0; p < now.panels(); ++p) {
        const Right next_b = p + 1 < now.panels() ? now.Panel(p + 1) : next.Panel(0);
        const Matrix<T> its_c = now.c.Columns(p * kPanelColumns, now.Panel(p).columns);
        ForTiles(now.c.rows, [&](std::int64_t tile, std::int64_t row, std::int64_t rows) {
          const auto [first_of_b, some_b] = share(next_b, tile, count);
          const auto [first_of_a, some_a] = share(next.a, p * count + tile, now.panels() * count);
          Packing::Multiply(tiles + tile * Packing::TileSize(depth), panel, depth, its_c.Rows(row, rows),
                            ToPack<T>{InMemory(some_b), some_a});
          Packing::PackPanel(some_b, first_of_b, next_panel);
          pack_tiles(some_a, first_of_a, Packing::TileSize(next.a.rows), next_tiles);
        });
        std::swap(panel, next_panel);
      }
      std::swap(tiles, next_tiles);
      now = next;
    }
  });
}

}  // namespace headlight::kernels
