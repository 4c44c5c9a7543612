#include "headlight/kernels/panel_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headlight/kernels/panel_product.cc"
#include "headlight/kernels/targets.h"
// clang-format off: Highway's order.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cstring>

#include "headlight/kernels/dispatch.h"
#include "headlight/kernels/gradient_blocks.h"
#include "headlight/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headlight {
namespace HWY_NAMESPACE {
using kernels::Ending;
using kernels::ForTiles;
using kernels::kPanelColumns;
using kernels::kTileRoom;
using kernels::kTileRows;

// The sums that stay in registers while the depth goes by, rows times vectors, with the vectors of the panel and a
// number of a beside them: with AVX-512 (and NEON) 32 registers, with AVX2 16. On a core that multiplies one vector of
// AVX-512 in a cycle this reaches 95% of the rate at depths from 512 on; at 256, where a tile's begin and end are felt,
// 87%.
constexpr std::int32_t kTileVectors = HWY_TARGET == HWY_AVX2 ? 2 : 4;

// The left-hand side of a tile: element (row, k) stands at data[row * row_stride + k * k_stride].
template <typename T>
struct Left {
  const T* data;
  std::ptrdiff_t row_stride, k_stride;
};

template <std::int32_t rows, typename T>
HWY_NOINLINE void Tile(Left<T> a, std::int64_t depth, const T* panels, Matrix<T> c, const Ending<T>& ending) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t begin = 0; begin < c.columns; begin += kTileVectors * lanes) {
    hn::Vec<decltype(d)> sums[rows][kTileVectors];
#pragma GCC unroll 8
    for (auto& row : sums) {
#pragma GCC unroll 8
      for (auto& sum : row) sum = hn::Zero(d);
    }
    for (std::int32_t row = 0; row < rows; ++row)
      for (std::int32_t v = 0; v < kTileVectors; ++v)
        if (begin + v * lanes < c.columns) __builtin_prefetch(c.row(row) + begin + v * lanes, /*write=*/1);
    const T* left = a.data;
    const T* right = panels + begin / kPanelColumns * depth * kPanelColumns + begin % kPanelColumns;
    for (std::int64_t k = 0; k < depth; ++k, left += a.k_stride, right += kPanelColumns) {
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
#pragma GCC unroll 8
    for (std::int32_t row = 0; row < rows; ++row) {
#pragma GCC unroll 8
      for (std::int32_t v = 0; v < kTileVectors; ++v) {
        const std::int64_t column = begin + v * lanes;
        const auto finish = [&](auto which) HWY_ATTR {
          T* const to = c.row(row) + column;
          auto result = sums[row][v];
          if (ending.accumulate) result = hn::Add(LoadLanes(d, to, which), result);
          if (ending.bias != nullptr) result = hn::Add(result, LoadLanes(d, ending.bias + column, which));
          // Not the greater of the two: a NaN stays.
          if (ending.relu) result = hn::IfThenElse(hn::Lt(result, hn::Zero(d)), hn::Zero(d), result);
          StoreLanes(result, d, to, which);
        };
        if (column + lanes <= c.columns)
          finish(All{});
        else if (column < c.columns)
          finish(First{static_cast<std::size_t>(c.columns - column)});
      }
    }
  }
}

template <std::int32_t most_rows, typename T>
HWY_INLINE void TileOf(std::int64_t rows, Left<T> a, std::int64_t depth, const T* panels, Matrix<T> c,
                       const Ending<T>& ending) {
  if constexpr (most_rows > 1) {
    if (rows < most_rows) return TileOf<most_rows - 1>(rows, a, depth, panels, c, ending);
  }
  Tile<most_rows>(a, depth, panels, c, ending);
}

template <typename T>
void PanelProductOn(Matrix<const T> a, const T* panels, Matrix<T> c, const Ending<T>& ending) {
  ForTiles(c.rows, [&](std::int64_t, std::int64_t row, std::int64_t rows) HWY_ATTR {
    TileOf<kTileRows, T>(rows, {a.row(row), a.stride, 1}, a.columns, panels, c.Rows(row, rows), ending);
  });
}
HEADLIGHT_KERNEL(PanelProductOn);

// c += (tiles of a^T) * panel.
template <typename T>
void AddTilesOn(const T* tiles, const T* panel, std::int64_t depth, Matrix<T> c) {
  ForTiles(c.rows, [&](std::int64_t tile, std::int64_t row, std::int64_t rows) HWY_ATTR {
    TileOf<kTileRows, T>(rows, {tiles + tile * depth * kTileRoom, 1, kTileRoom}, depth, panel, c.Rows(row, rows),
                         {.accumulate = true});
  });
}
HEADLIGHT_KERNEL(AddTilesOn);

}  // namespace HWY_NAMESPACE
}  // namespace headlight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headlight {
HEADLIGHT_EXPORT(PanelProductOn);
HEADLIGHT_EXPORT(AddTilesOn);
}  // namespace headlight

namespace headlight::kernels {
namespace {

template <typename T>
void PackTiles(Matrix<const T> a, T* to) {
  constexpr std::int64_t step = 8;  // rows, whose lines stay in the first-level cache from tile to tile
  for (std::int64_t first = 0; first < a.rows; first += step) {
    const std::int64_t depth = std::min(step, a.rows - first);
    ForTiles(a.columns, [&](std::int64_t tile, std::int64_t row, std::int64_t rows) {
      T* tile_to = to + (tile * a.rows + first) * kTileRoom;
      for (std::int64_t k = 0; k < depth; ++k, tile_to += kTileRoom) {
        const T* from = a.row(first + k) + row;
        __builtin_prefetch(from + kRowsAhead * a.stride);
        if (row + kTileRoom <= a.columns)
          std::memcpy(tile_to, from, kTileRoom * sizeof(T));
        else
          std::copy_n(from, rows, tile_to);
      }
    });
  }
}

}  // namespace

template <typename T>
void PackPanel(Matrix<const T> b, bool transposed, T* panel) {
  if (!transposed) {
    for (std::int64_t row = 0; row < b.rows; ++row, panel += kPanelColumns) {
      constexpr std::int64_t line = 64 / sizeof(T);
      for (std::int64_t column = 0; column < b.columns; column += line)
        __builtin_prefetch(b.row(row + kRowsAhead) + column);
      std::copy_n(b.row(row), b.columns, panel);
      std::fill(panel + b.columns, panel + kPanelColumns, T{0});
    }
    return;
  }
  constexpr std::int64_t block = 16;  // of depth, so that what is written stays in the first-level cache
  for (std::int64_t first = 0; first < b.columns; first += block) {
    const std::int64_t depth = std::min(block, b.columns - first);
    for (std::int64_t column = 0; column < kPanelColumns; ++column)
      for (std::int64_t k = 0; k < depth; ++k)
        panel[k * kPanelColumns + column] = column < b.rows ? b.row(column)[first + k] : T{0};
    panel += depth * kPanelColumns;
  }
}

template <typename T>
void PanelProduct(Matrix<const T> a, const T* panels, Matrix<T> c, const Ending<T>& ending) {
  HEADLIGHT_DISPATCH(PanelProductOn, T)(a, panels, c, ending);
}

template <typename T>
void AddTransposedProduct(Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  AddTransposedInBlocks<T, T>(
      a, b, c, PackTiles<T>, [](Matrix<const T> from, T* panel) { PackPanel(from, /*transposed=*/false, panel); },
      HEADLIGHT_DISPATCH(AddTilesOn, T));
}

template void PackPanel(Matrix<const float>, bool, float*);
template void PackPanel(Matrix<const double>, bool, double*);
template void PanelProduct(Matrix<const float>, const float*, Matrix<float>, const Ending<float>&);
template void PanelProduct(Matrix<const double>, const double*, Matrix<double>, const Ending<double>&);
template void AddTransposedProduct(Matrix<const float>, Matrix<const float>, Matrix<float>);
template void AddTransposedProduct(Matrix<const double>, Matrix<const double>, Matrix<double>);

}  // namespace headlight::kernels
#endif
