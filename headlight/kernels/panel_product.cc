#include "headlight/kernels/panel_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/panel_product.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway requires this order of includes.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cstring>

#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/gradient_blocks.h"
#include "headlight/kernels/lanes-inl.h"
#include "headlight/kernels/tile_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
using kernels::Epilogue;
using kernels::ForTiles;
using kernels::kPanelColumns;
using kernels::kTileRoom;
using kernels::kTileRows;
using kernels::LineList;
using kernels::Lines;
using kernels::TilesOf;
using kernels::ToPack;

// Returns the number of vectors in a tile with this many rows. A tile's sums, the panel's vectors and one number of a
// must fit into registers. AVX-512 and NEON have 32 registers, and AVX2 has 16. On a core with one AVX-512
// multiplication per cycle, this reaches 97% of the peak at depths from 256. With few rows, the product is bound by
// reading the panel, which is fastest in memory order, so all registers are used for columns.
constexpr std::int32_t TileVectors(std::int32_t rows) {
  if (HWY_TARGET != HWY_AVX2) return 4;
  return rows == 1 ? 8 : rows <= 3 ? 4 : 2;
}

// The left-hand side of a tile: element (row, k) is at data[row * row_stride + k * k_stride].
template <typename T>
struct Left {
  const T* data;
  std::ptrdiff_t row_stride, k_stride;
};

// The data to prefetch during a tile: the rows of the next tile, rows [first, last) of each of the next panels (none if
// null), and the rows that are packed next.
template <typename T>
struct Following {
  const T* left = nullptr;
  const T* panels = nullptr;
  std::int64_t first = 0, last = 0;
  ToPack<T> to_pack = {};
};

// Stores the sums of a tile and applies the epilogue, one number at a time.
template <std::size_t rows, std::size_t room, typename T>
void StoreColumns(const T (&sums)[rows][room], std::int64_t begin, std::int64_t columns, Matrix<T> c,
                  const Epilogue<T>& epilogue) {
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(rows); ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      const T added = epilogue.added.data == nullptr ? 0 : epilogue.added.row(row)[begin + column];
      const T sum = sums[row][column] + added;
      const T result = epilogue.bias == nullptr ? sum : sum + epilogue.bias[begin + column];
      c.row(row)[begin + column] = epilogue.relu && result < 0 ? 0 : result;
    }
}

// Computes a tile with columns that fit into one vector. The result is bit-identical to Tile's.
template <std::int32_t rows, typename T>
HWY_NOINLINE void NarrowTile(Left<T> a, std::int64_t depth, const T* panel, std::int64_t begin, std::int64_t columns,
                             Matrix<T> c, const Epilogue<T>& epilogue) {
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> sums[rows];
#pragma GCC unroll 8
  for (auto& sum : sums) sum = hn::Zero(d);
  const T* left = a.data;
  for (std::int64_t k = 0; k < depth; ++k, left += a.k_stride, panel += kPanelColumns) {
    const auto factors = hn::Load(d, panel);
#pragma GCC unroll 8
    for (std::int32_t row = 0; row < rows; ++row)
      sums[row] = hn::MulAdd(hn::Set(d, left[row * a.row_stride]), factors, sums[row]);
  }
  HWY_ALIGN T all[rows][hn::MaxLanes(d)];
  for (std::int32_t row = 0; row < rows; ++row) hn::Store(sums[row], d, all[row]);
  StoreColumns(all, begin, columns, c, epilogue);
}

template <std::int32_t rows, typename T>
HWY_NOINLINE void Tile(Left<T> a, std::int64_t depth, const T* panels, Matrix<T> c, const Epilogue<T>& epilogue,
                       const Following<T>& following) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr std::int32_t kTileVectors = TileVectors(rows);
  const std::int64_t width = kTileVectors * lanes;
  for (std::int64_t begin = 0; begin < c.columns; begin += width) {
    const std::int64_t columns = std::min(width, c.columns - begin);
    const std::int64_t index = begin / kPanelColumns * depth * kPanelColumns + begin % kPanelColumns;
    if (columns <= lanes) return NarrowTile<rows>(a, depth, panels + index, begin, columns, c, epilogue);
    LineList ask;
    for (std::int32_t row = 0; row < rows; ++row) ask.AddRow(c.row(row) + begin, columns);
    if (epilogue.added.data != c.data && epilogue.added.data != nullptr)
      for (std::int32_t row = 0; row < rows; ++row) ask.AddRow(epilogue.added.row(row) + begin, columns);
    if (following.left != nullptr)
      for (std::int64_t row = rows * begin / c.columns; row < rows * (begin + columns) / c.columns; ++row)
        ask.AddRow(following.left + row * a.row_stride, depth);
    if (following.panels != nullptr)  // each pass prefetches a share of the rows
      ask.AddRow(following.panels + begin / kPanelColumns * depth * kPanelColumns + following.first * kPanelColumns +
                     begin % kPanelColumns * (following.last - following.first),
                 (following.last - following.first) * width);
    for (const Matrix<const T>& part : following.to_pack)
      for (std::int64_t row = part.rows * begin / c.columns; row < part.rows * (begin + columns) / c.columns; ++row)
        ask.AddRow(part.row(row), part.columns);
    const Lines* lines = ask.Finish(a.data, depth);

    hn::Vec<decltype(d)> sums[rows][kTileVectors];
#pragma GCC unroll 8
    for (auto& row : sums) {
#pragma GCC unroll 8
      for (auto& sum : row) sum = hn::Zero(d);
    }
    const T *left = a.data, *right = panels + index;
    const T* const end = right + depth * kPanelColumns;
    for (; right != end; ++lines) {
      const char* ahead = lines->first;
      const T* const until = right + std::min((end - right), lines->count * kPanelColumns);
      for (; right != until; left += a.k_stride, right += kPanelColumns, ahead += lines->apart) {
        __builtin_prefetch(ahead);
        // If a row of the panel is read in several passes, the lines of the row are too far apart for the hardware
        // prefetcher.
        if (width < kPanelColumns) __builtin_prefetch(right + 32 * kPanelColumns);
        hn::Vec<decltype(d)> factors[kTileVectors];
#pragma GCC unroll 8
        for (std::int32_t v = 0; v < kTileVectors; ++v) factors[v] = hn::Load(d, right + v * lanes);
#pragma GCC unroll 8
        for (std::int32_t row = 0; row < rows; ++row) {
          const auto factor = hn::Set(d, left[row * a.row_stride]);
#pragma GCC unroll 8
          for (std::int32_t v = 0; v < kTileVectors; ++v) sums[row][v] = hn::MulAdd(factor, factors[v], sums[row][v]);
        }
      }
    }

    if (columns < width) {
      HWY_ALIGN T all[rows][kPanelColumns];
      for (std::int32_t row = 0; row < rows; ++row)
        for (std::int32_t v = 0; v < kTileVectors; ++v) hn::Store(sums[row][v], d, all[row] + v * lanes);
      return StoreColumns(all, begin, columns, c, epilogue);
    }
    const auto for_all = [&](const auto& change) HWY_ATTR {
#pragma GCC unroll 8
      for (std::int32_t row = 0; row < rows; ++row) {
#pragma GCC unroll 8
        for (std::int32_t v = 0; v < kTileVectors; ++v) sums[row][v] = change(sums[row][v], row, begin + v * lanes);
      }
    };
    if (epilogue.added.data != nullptr)
      for_all([&](auto sum, std::int32_t row, std::int64_t column)
                  HWY_ATTR { return hn::Add(hn::LoadU(d, epilogue.added.row(row) + column), sum); });
    if (epilogue.bias != nullptr)
      for_all([&](auto sum, std::int32_t, std::int64_t column)
                  HWY_ATTR { return hn::Add(sum, hn::LoadU(d, epilogue.bias + column)); });
    if (epilogue.relu)  // unlike Max, keeps NaN
      for_all([&](auto sum, std::int32_t, std::int64_t)
                  HWY_ATTR { return hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), hn::Zero(d), sum); });
    for_all([&](auto sum, std::int32_t row, std::int64_t column) HWY_ATTR {
      hn::StoreU(sum, d, c.row(row) + column);
      return sum;
    });
  }
}

template <std::int32_t most_rows, typename T>
HWY_INLINE void TileOf(std::int64_t rows, Left<T> a, std::int64_t depth, const T* panels, Matrix<T> c,
                       const Epilogue<T>& epilogue, const Following<T>& following) {
  if constexpr (most_rows > 1) {
    if (rows < most_rows) return TileOf<most_rows - 1>(rows, a, depth, panels, c, epilogue, following);
  }
  Tile<most_rows>(a, depth, panels, c, epilogue, following);
}

template <typename T>
void PanelProductOn(Matrix<const T> a, const T* panels, Matrix<T> c, const Epilogue<T>& epilogue, const T* next) {
  const std::int64_t tiles = TilesOf(c.rows);
  ForTiles(c.rows, [&](std::int64_t tile, std::int64_t row, std::int64_t rows) HWY_ATTR {
    const Following<T> following{tile + 1 < tiles ? a.row(row + rows) : nullptr, next, a.columns * tile / tiles,
                                 a.columns * (tile + 1) / tiles};
    TileOf<kTileRows, T>(rows, {a.row(row), a.stride, 1}, a.columns, panels, c.Rows(row, rows),
                         epilogue.Rows(row, rows), following);
  });
}
HEADLIGHT_KERNEL(PanelProductOn);

// Computes c += (a tile of a^T) * panel.
template <typename T>
void AddTileOn(const T* tile, const T* panel, std::int64_t depth, Matrix<T> c, const ToPack<T>& to_pack) {
  TileOf<kTileRows, T>(c.rows, {tile, 1, kTileRoom}, depth, panel, c, {.added = c}, {.to_pack = to_pack});
}
HEADLIGHT_KERNEL(AddTileOn);

// Packs kPanelColumns rows as the columns of a panel.
template <typename T>
void PackRowsAsColumnsOn(Matrix<const T> rows, T* panel) {
  constexpr std::int64_t block = 64;  // step of the depth: the panel rows of a step fit into the first-level cache
  for (std::int64_t first = 0; first < rows.columns; first += block, panel += block * kPanelColumns)
    PackTransposed(rows.Columns(first, std::min(block, rows.columns - first)), 0,
                   static_cast<std::int32_t>(kPanelColumns),
                   static_cast<std::int32_t>(std::min(block, rows.columns - first)), panel,
                   static_cast<std::int32_t>(kPanelColumns));
}
HEADLIGHT_KERNEL(PackRowsAsColumnsOn);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight {
HEADLIGHT_EXPORT(PanelProductOn);
HEADLIGHT_EXPORT(AddTileOn);
HEADLIGHT_EXPORT(PackRowsAsColumnsOn);
}  // namespace headlight

namespace headlight::kernels {
namespace {

// Blocks of 12 panels, blocks of 96, 192 or 288 rows, vectorized packing of tiles, and an outer loop over tiles are not
// faster.
template <typename T>
struct Packing {
  using Number = T;
  static constexpr std::int64_t kRows = kTileRows, kDepth = 256, kTogether = 8;
  static constexpr std::int64_t TileSize(std::int64_t depth) { return depth * kTileRoom; }

  static void PackTiles(Matrix<const T> a, std::int64_t first, std::int64_t tile_size, T* to) {
    ForTiles(a.columns, [&](std::int64_t tile, std::int64_t row, std::int64_t rows) {
      T* tile_to = to + tile * tile_size + first * kTileRoom;
      for (std::int64_t k = 0; k < a.rows; ++k, tile_to += kTileRoom) {
        if (row + kTileRoom <= a.columns)
          std::memcpy(tile_to, a.row(k) + row, kTileRoom * sizeof(T));
        else
          std::copy_n(a.row(k) + row, rows, tile_to);
      }
    });
  }

  static void PackPanel(Matrix<const T> b, std::int64_t first, T* to) {
    kernels::PackPanel(b, /*transposed=*/false, to + first * kPanelColumns);
  }
  static void PackPanel(const UnfoldedPart<T>& b, std::int64_t first, T* to) {
    if (b.rows == 0) return;
    const Matrix<T> rows{to + first * kPanelColumns, b.rows, b.columns, kPanelColumns};
    b.Read(rows);
    for (std::int64_t row = 0; row < rows.rows && rows.columns < kPanelColumns; ++row)
      std::fill(rows.row(row) + rows.columns, rows.row(row) + kPanelColumns, T{0});
  }

  static void Multiply(const T* tile, const T* panel, std::int64_t depth, Matrix<T> c, const ToPack<T>& next) {
    HEADLIGHT_DISPATCH(AddTileOn, T)(tile, panel, depth, c, next);
  }
  static void Finish() {}
};

}  // namespace

template <typename T>
void PackPanel(Matrix<const T> b, bool transposed, T* panel) {
  if (!transposed) {
    for (std::int64_t row = 0; row < b.rows; ++row, panel += kPanelColumns) {
      Prefetch(b, row + kRowsAhead, 1);
      std::copy_n(b.row(row), b.columns, panel);
      std::fill(panel + b.columns, panel + kPanelColumns, T{0});
    }
    return;
  }
  if (b.rows == kPanelColumns) return HEADLIGHT_DISPATCH(PackRowsAsColumnsOn, T)(b, panel);
  constexpr std::int64_t block = 16;  // step of the depth: the panel rows of a step fit into the first-level cache
  for (std::int64_t first = 0; first < b.columns; first += block) {
    const std::int64_t depth = std::min(block, b.columns - first);
    for (std::int64_t column = 0; column < kPanelColumns; ++column)
      for (std::int64_t k = 0; k < depth; ++k)
        panel[k * kPanelColumns + column] = column < b.rows ? b.row(column)[first + k] : T{0};
    panel += depth * kPanelColumns;
  }
}

template <typename T>
void PanelProduct(Matrix<const T> a, const T* panels, Matrix<T> c, const Epilogue<T>& epilogue, const T* next) {
  HEADLIGHT_DISPATCH(PanelProductOn, T)(a, panels, c, epilogue, next);
}

template <typename T>
void AddTransposedProduct(Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  AddTransposedInBlocks<Packing<T>>(a, b, c);
}

template <typename T>
void AddTransposedProduct(Matrix<const T> a, const UnfoldedPart<T>& b, Matrix<T> c) {
  AddTransposedInBlocks<Packing<T>>(a, b, c);
}

template void PackPanel(Matrix<const float>, bool, float*);
template void PackPanel(Matrix<const double>, bool, double*);
template void PanelProduct(Matrix<const float>, const float*, Matrix<float>, const Epilogue<float>&, const float*);
template void PanelProduct(Matrix<const double>, const double*, Matrix<double>, const Epilogue<double>&, const double*);
template void AddTransposedProduct(Matrix<const float>, Matrix<const float>, Matrix<float>);
template void AddTransposedProduct(Matrix<const double>, Matrix<const double>, Matrix<double>);
template void AddTransposedProduct(Matrix<const float>, const UnfoldedPart<float>&, Matrix<float>);
template void AddTransposedProduct(Matrix<const double>, const UnfoldedPart<double>&, Matrix<double>);

}  // namespace headlight::kernels
#endif
