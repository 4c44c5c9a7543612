// Computes c += a^T b, the gradient of a weight. Each thread sums a part of c over the whole depth. Panels of b and
// tiles of a fit into the second-level cache (kernels/panels.h). During the products, the next factors are prefetched.
// Between tiles, parts of them are packed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "headlight/base/matrix.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/panels.h"
#include "headlight/kernels/rows.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

/// The number of rows of c whose tiles are packed together, and the maximum number of panels in a part.
inline constexpr std::int64_t kBlockRows = 144, kPartPanels = 8;

/// The numbers of parts into which the rows and columns of c are divided.
struct GradientCut {
  std::int64_t down, across;
};

/// Returns the division with the least packing: a is packed once for each part across, and b once for each part down.
/// All threads get the same number of parts, or there are at least four parts per thread.
inline GradientCut CutOf(std::int64_t rows, std::int64_t panels, std::int64_t threads) {
  GradientCut best = {TilesOf(rows), panels};
  std::int64_t least = -1;  // number of packed columns
  const auto balanced = [&](std::int64_t parts) { return parts % threads == 0 || parts >= 4 * threads; };
  for (std::int64_t across = (panels + kPartPanels - 1) / kPartPanels; across <= panels; ++across) {
    std::int64_t down = 1;
    while (down < TilesOf(rows) && !balanced(across * down)) ++down;
    if (!balanced(across * down)) continue;
    const std::int64_t packed = across * rows + down * panels * kPanelColumns;
    if (least >= 0 && least <= packed) continue;
    best = {down, across};
    least = packed;
  }
  return best;
}

/// The rows of b and of a that are packed next.
template <typename T>
using ToPack = std::array<Matrix<const T>, 2>;

/// Returns the rows to prefetch. The taps of a convolution are not contiguous and cannot be prefetched.
template <typename T>
Matrix<const T> InMemory(const Matrix<const T>& rows) {
  return rows;
}
template <typename T>
Matrix<const T> InMemory(const UnfoldedPart<T>&) {
  return {};
}

/// Divides rows into `count` shares of similar size. All shares except the last are multiples of `together`.
template <class Rows>
struct RowShares {
  Rows rows;
  std::int64_t count, together, taken = 0, end = 0;

  // Returns the next chunk of rows, and the index of its first row.
  std::pair<std::int64_t, Rows> Next() {
    const std::int64_t groups = (rows.rows + together - 1) / together, begin = end;
    end = std::min(groups * ++taken / count * together, rows.rows);
    return {begin, rows.Rows(begin, end - begin)};
  }
};

/// Computes c += a^T b on this thread, for c of at most kPartPanels panels. b is a Matrix<const T> or an
/// UnfoldedPart<T>. The members of Packing define the packed layout:
///
///   Number                                   the packed type of an element
///   kRows                                    maximum number of rows of c in a tile
///   kDepth                                   rows of a and b whose products are added to c at a time
///   kTogether                                maximum number of rows per call of PackTiles; `first` is a multiple of it
///   TileSize(depth)                          elements in a tile
///   PackTiles(a, first, tile_size, to)       packs rows first, first + 1, ... of a block into the tiles of its columns
///   PackPanel(b, first, to)                  packs any number of rows into a panel of at most kPanelColumns columns
///   Multiply(tile, panel, depth, c, next)    c += tile * panel; may prefetch the rows of next
///   Finish()                                 called after the last product
template <class Packing, typename T, class Right>
void AddTransposedPart(Matrix<const T> a, Right b, Matrix<T> c) {
  const std::int64_t panels = (c.columns + kPanelColumns - 1) / kPanelColumns;
  const std::int64_t blocks = (c.rows + kBlockRows - 1) / kBlockRows;
  // A step computes one block of c for kDepth rows of a and b.
  const std::int64_t steps = (a.rows + Packing::kDepth - 1) / Packing::kDepth * blocks;
  const auto piece = [&](const auto& rows, std::int64_t step) {
    const std::int64_t first = step / blocks * Packing::kDepth;
    return rows.Rows(first, std::min(Packing::kDepth, rows.rows - first));
  };
  const auto block_row = [&](std::int64_t block) { return c.rows * block / blocks; };
  const auto block_of = [&](std::int64_t step) -> Matrix<const T> {
    if (step == steps) return {};
    const std::int64_t row = block_row(step % blocks);
    return piece(a, step).Columns(row, block_row(step % blocks + 1) - row);
  };
  const auto panel_of = [&](std::int64_t step, std::int64_t panel) -> Right {
    if (step >= steps) return {};
    const std::int64_t column = panel * kPanelColumns;
    return piece(b, step).Columns(column, std::min(kPanelColumns, b.columns - column));
  };

  struct Factors;
  constexpr std::int64_t panel_size = Packing::kDepth * kPanelColumns;
  constexpr std::int64_t tiles_size = TilesOf(kBlockRows, Packing::kRows) * Packing::TileSize(Packing::kDepth);
  auto* const memory = KeptScratch<Factors, typename Packing::Number>((kPartPanels + 1) * panel_size + 2 * tiles_size);
  // A panel of the next depth replaces the previous panel, which has already been used.
  const auto panel_at = [&](std::int64_t step, std::int64_t panel) {
    return memory + (step / blocks * panels + panel) % (panels + 1) * panel_size;
  };
  const auto tiles_at = [&](std::int64_t step) {
    return memory + (kPartPanels + 1) * panel_size + step % 2 * tiles_size;
  };
  const auto pack_tiles = [](Matrix<const T> rows, std::int64_t first, std::int64_t tile_size, auto* to) {
    for (std::int64_t row = 0; row < rows.rows; row += Packing::kTogether) {
      Prefetch(rows, row + kRowsAhead, Packing::kTogether);
      Packing::PackTiles(rows.Rows(row, std::min(Packing::kTogether, rows.rows - row)), first + row, tile_size, to);
    }
  };

  for (std::int64_t panel = 0; panel < panels; ++panel) Packing::PackPanel(panel_of(0, panel), 0, panel_at(0, panel));
  pack_tiles(block_of(0), 0, Packing::TileSize(block_of(0).rows), tiles_at(0));
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t depth = block_of(step).rows, first_row = block_row(step % blocks);
    const Matrix<T> block_c = c.Rows(first_row, block_row(step % blocks + 1) - first_row);
    const std::int64_t tiles = TilesOf(block_c.rows, Packing::kRows);
    const bool last_of_depth = (step + 1) % blocks == 0;
    RowShares<Matrix<const T>> next_a{block_of(step + 1), panels * tiles, Packing::kTogether};
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      RowShares<Right> next_b{last_of_depth ? panel_of(step + 1, panel) : Right{}, tiles, Packing::kTogether};
      const std::int64_t column = panel * kPanelColumns;
      const Matrix<T> panel_c = block_c.Columns(column, std::min(kPanelColumns, c.columns - column));
      const auto *const its_panel = panel_at(step, panel), *const its_tiles = tiles_at(step);
      auto *const next_panel = panel_at(step + 1, panel), *const next_tiles = tiles_at(step + 1);
      ForTiles<Packing::kRows>(block_c.rows, [&](std::int64_t tile, std::int64_t row, std::int64_t rows) {
        const auto [first_of_b, some_b] = next_b.Next();
        const auto [first_of_a, some_a] = next_a.Next();
        Packing::Multiply(its_tiles + tile * Packing::TileSize(depth), its_panel, depth, panel_c.Rows(row, rows),
                          ToPack<T>{InMemory(some_b), some_a});
        Packing::PackPanel(some_b, first_of_b, next_panel);
        pack_tiles(some_a, first_of_a, Packing::TileSize(next_a.rows.rows), next_tiles);
      });
    }
  }
  Packing::Finish();
}

/// Computes c += a^T b. The sums of each kDepth rows are added in ascending order, for any number of threads.
template <class Packing, typename T, class Right>
void AddTransposedInBlocks(Matrix<const T> a, Right b, Matrix<T> c) {
  if (a.rows == 0 || c.rows == 0 || c.columns == 0) return;
  const std::int64_t panels = (c.columns + kPanelColumns - 1) / kPanelColumns;
  const auto [down, across] = CutOf(c.rows, panels, Threads());
  ParallelFor(down * across, [&, down = down, across = across](std::int64_t part) {
    const std::int64_t row = part / across * c.rows / down, rows = (part / across + 1) * c.rows / down - row;
    const std::int64_t column = part % across * panels / across * kPanelColumns;
    const std::int64_t columns = std::min((part % across + 1) * panels / across * kPanelColumns, c.columns) - column;
    AddTransposedPart<Packing>(a.Columns(row, rows), b.Columns(column, columns),
                               c.Rows(row, rows).Columns(column, columns));
  });
}

}  // namespace headlight::kernels
