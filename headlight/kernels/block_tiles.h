// Code shared by the implementations of kernels/block_product.h for specific instruction sets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "headlight/base/error.h"
#include "headlight/kernels/block_panel.h"
#include "headlight/kernels/block_rows.h"

namespace headlight::kernels {

/// Return the products that use AVX-512 VNNI, AVX-VNNI, AVX2 and Highway, respectively.
BlockProduct VnniBlockProduct(GgufType type);
BlockProduct AvxVnniBlockProduct(GgufType type);
BlockProduct Avx2BlockProduct(GgufType type);
BlockProduct HighwayBlockProduct(GgufType type);

inline std::uint8_t* Unsigned(std::byte* bytes) { return reinterpret_cast<std::uint8_t*>(bytes); }
inline const std::uint8_t* Unsigned(const std::byte* bytes) { return reinterpret_cast<const std::uint8_t*>(bytes); }

// Adds the bias to a row's sums and applies ReLU. All implementations use this order of operations, so their results
// are bit-identical.
[[gnu::always_inline]] inline void FinishRow(const float* sums, std::int64_t columns, const float* bias, bool relu,
                                             float* c) {
  for (std::int64_t i = 0; i < columns; ++i) c[i] = bias == nullptr ? sums[i] : sums[i] + bias[i];
  if (!relu) return;
  for (std::int64_t i = 0; i < columns; ++i) c[i] = c[i] < 0 ? 0 : c[i];
}

// Returns the sum of a row's values over a group that begins at `k`.
[[gnu::always_inline]] inline std::int32_t GroupSum(const BlockRows& a, std::int64_t row, std::int64_t k, int group) {
  const std::int32_t* sums = a.sums + row * (a.depth / kSumRun) + k / kSumRun;
  return group == kSumRun ? sums[0] : sums[0] + sums[1];
}
[[gnu::always_inline]] inline float ScaleAt(const BlockRows& a, std::int64_t row, std::int64_t k) {
  return a.scales[row * (a.depth / kBlockRun) + k / kBlockRun];
}

// Prefetches the share of columns [begin, begin + columns) of the data that is one panel after `group`.
template <BlockLayout layout>
[[gnu::always_inline]] inline void PrefetchNextPanel(const std::byte* group, std::int64_t depth, std::int64_t begin,
                                                     std::int64_t columns) {
  constexpr std::int64_t line = 64;
  const std::byte* const next = group + depth / layout.run * RunBytes(layout);
  for (std::int64_t byte = begin / columns * line; byte < GroupBytes(layout); byte += kPanelColumns / columns * line)
    __builtin_prefetch(next + byte, 0, 2);
}

// Computes the products of some rows with a panel. If `prefetch` is true, prefetches the next panel, which must follow
// in memory.
using Tile = void (*)(const BlockRows& a, std::int64_t first_row, const std::byte* panel, Matrix<float> c,
                      const float* bias, bool relu, bool prefetch);

// Computes all rows with tiles of heights[i] rows. Heights are in ascending order, starting at 1. Only the first tile
// waits for the panel's data, so the last of several tiles prefetches the next panel.
template <std::size_t count>
[[gnu::always_inline]] inline void ProductByTiles(const std::array<int, count>& heights,
                                                  const std::array<Tile, count>& tiles, const BlockRows& a,
                                                  const std::byte* panel, Matrix<float> c, const float* bias,
                                                  bool relu) {
  std::size_t tile = count - 1;
  for (std::int64_t row = 0; row < a.rows; row += heights[tile]) {
    while (heights[tile] > a.rows - row) --tile;
    const bool last = row > 0 && row + heights[tile] == a.rows;
    tiles[tile](a, row, panel, c.Rows(row, heights[tile]), bias, relu, last);
  }
}

[[gnu::always_inline]] inline std::int32_t Four(const std::int8_t* values) {
  std::int32_t four;
  std::memcpy(&four, values, sizeof(four));
  return four;
}

// Returns the implementation for a block type.
template <template <BlockLayout> class Of>
BlockProduct ProductFor(GgufType type) {
  switch (type) {
    case GgufType::q4_0:
      return Of<LayoutOf(GgufType::q4_0)>::product;
    case GgufType::q4_1:
      return Of<LayoutOf(GgufType::q4_1)>::product;
    case GgufType::q5_0:
      return Of<LayoutOf(GgufType::q5_0)>::product;
    case GgufType::q5_1:
      return Of<LayoutOf(GgufType::q5_1)>::product;
    case GgufType::q8_0:
      return Of<LayoutOf(GgufType::q8_0)>::product;
    case GgufType::q2_k:
      return Of<LayoutOf(GgufType::q2_k)>::product;
    case GgufType::q3_k:
      return Of<LayoutOf(GgufType::q3_k)>::product;
    case GgufType::q4_k:
      return Of<LayoutOf(GgufType::q4_k)>::product;
    case GgufType::q5_k:
      return Of<LayoutOf(GgufType::q5_k)>::product;
    case GgufType::q6_k:
      return Of<LayoutOf(GgufType::q6_k)>::product;
    case GgufType::iq4_nl:
      return Of<LayoutOf(GgufType::iq4_nl)>::product;
    case GgufType::iq4_xs:
      return Of<LayoutOf(GgufType::iq4_xs)>::product;
    case GgufType::f32:
    case GgufType::f16:
    case GgufType::bf16:
      break;
  }
  ThrowError(ErrorCause::internal, "type {} has no blocks", fmt::make_format_args(InfoOf(type).name));
}

}  // namespace headlight::kernels
