// Tiles of products with block types in vectors of 256 bits, for AVX2 and AVX-VNNI. The including file defines
// HEADLIGHT_TILE_TARGET, the attribute of functions, and HEADLIGHT_TILE_LAMBDA, the attribute of lambdas.
// HEADLIGHT_TILE_VNNI is 1 if one instruction sums four products of bytes.
#include <immintrin.h>

#include <algorithm>
#include <array>

#include "headlight/kernels/block_tiles.h"

namespace headlight::kernels {
namespace {

[[gnu::always_inline]] HEADLIGHT_TILE_TARGET inline __m256i Bytes256(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
[[gnu::always_inline]] HEADLIGHT_TILE_TARGET inline __m256 Halves256(const std::byte* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// In byte products, codes below 64 are unsigned. With VNNI, kRaised is added to all other values to make them unsigned.
// Otherwise, these values stay signed.
constexpr int kRaised = 128;
constexpr bool IsWide(const BlockLayout& layout) { return layout.bits == 8 || layout.levels; }

// The elements of quads 2 p and 2 p + 1 of 8 columns.
struct TwoQuads256 {
  __m256i first, second;
};
template <BlockLayout layout>
[[gnu::always_inline]] HEADLIGHT_TILE_TARGET inline TwoQuads256 QuadsAt256(const std::uint8_t* codes, int pair,
                                                                           __m256i high) {
  if constexpr (layout.bits == 8) {
    static_assert(layout.offset == kRaised);
    const TwoQuads256 raised = {Bytes256(codes + 2 * pair * kQuadBytes), Bytes256(codes + (2 * pair + 1) * kQuadBytes)};
#if HEADLIGHT_TILE_VNNI
    return raised;
#else
    const __m256i offset = _mm256_set1_epi8(static_cast<char>(kRaised));
    return {_mm256_sub_epi8(raised.first, offset), _mm256_sub_epi8(raised.second, offset)};
#endif
  } else {
    const __m256i low_bits = _mm256_set1_epi8(0xf), two = Bytes256(codes + pair * kQuadBytes);
    TwoQuads256 quads = {_mm256_and_si256(two, low_bits), _mm256_and_si256(_mm256_srli_epi16(two, 4), low_bits)};
    if constexpr (layout.levels) {
      __m256i levels =
          _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(kBlockLevels.data())));
#if HEADLIGHT_TILE_VNNI
      levels = _mm256_add_epi8(levels, _mm256_set1_epi8(static_cast<char>(kRaised)));
#endif
      quads = {_mm256_shuffle_epi8(levels, quads.first), _mm256_shuffle_epi8(levels, quads.second)};
    } else if constexpr (layout.bits > 4) {
      constexpr int more = layout.bits - 4;
      const __m256i mask = _mm256_set1_epi8(((1 << more) - 1) << 4);
      const auto moved = [&](int quad) HEADLIGHT_TILE_LAMBDA {
        const int by = 4 - quad * more;
        return _mm256_and_si256(by >= 0 ? _mm256_slli_epi16(high, by) : _mm256_srli_epi16(high, -by), mask);
      };
      quads = {_mm256_or_si256(quads.first, moved(2 * pair)), _mm256_or_si256(quads.second, moved(2 * pair + 1))};
    }
    return quads;
  }
}

// Adds the products of 8 columns and some rows over one group to `exact`. `left` holds the elements of the rows.
#if HEADLIGHT_TILE_VNNI
template <BlockLayout layout, int rows>
[[gnu::always_inline]] HEADLIGHT_TILE_TARGET inline void AddGroup256(const std::uint8_t* codes, __m256i high,
                                                                     const std::int8_t* left, std::int64_t stride,
                                                                     __m256i (&exact)[rows]) {
#pragma GCC unroll 4
  for (int pair = 0; pair < layout.group / (2 * kQuad); ++pair) {
    const TwoQuads256 quads = QuadsAt256<layout>(codes, pair, high);
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row) {
      const std::int8_t* const values = left + row * stride + pair * 2 * kQuad;
      exact[row] = _mm256_dpbusd_avx_epi32(exact[row], quads.first, _mm256_set1_epi32(Four(values)));
      exact[row] = _mm256_dpbusd_avx_epi32(exact[row], quads.second, _mm256_set1_epi32(Four(values + kQuad)));
    }
  }
}
#else
template <BlockLayout layout, int rows>
[[gnu::always_inline]] HEADLIGHT_TILE_TARGET inline void AddGroup256(const std::uint8_t* codes, __m256i high,
                                                                     const std::int8_t* left, std::int64_t stride,
                                                                     __m256i (&exact)[rows]) {
  constexpr bool wide = IsWide(layout);
  // Products of codes with 8-bit elements are summed in 16 bits. The sums of 8 quads with 4-bit codes, 4 quads with
  // 5-bit codes or 2 quads with 6-bit codes fit into 16 bits.
  constexpr int pairs_in_16_bits = layout.bits == 4 ? 4 : layout.bits == 5 ? 2 : 1;
  constexpr int pairs = layout.group / (2 * kQuad), chunk = std::min(pairs, wide ? 1 : pairs_in_16_bits);
  const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 4
  for (int begin_pair = 0; begin_pair < pairs; begin_pair += chunk) {
    __m256i of_chunk[rows];
#pragma GCC unroll 8
    for (__m256i& sum : of_chunk) sum = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (int pair = begin_pair; pair < begin_pair + chunk; ++pair) {
      const TwoQuads256 quads = QuadsAt256<layout>(codes, pair, high);
#pragma GCC unroll 8
      for (int row = 0; row < rows; ++row) {
        const std::int8_t* const values = left + row * stride + pair * 2 * kQuad;
        const __m256i one = _mm256_set1_epi32(Four(values)), other = _mm256_set1_epi32(Four(values + kQuad));
        if constexpr (wide) {
          const __m256i first = _mm256_maddubs_epi16(_mm256_abs_epi8(quads.first), _mm256_sign_epi8(one, quads.first));
          const __m256i second =
              _mm256_maddubs_epi16(_mm256_abs_epi8(quads.second), _mm256_sign_epi8(other, quads.second));
          exact[row] = _mm256_add_epi32(
              exact[row], _mm256_add_epi32(_mm256_madd_epi16(first, ones), _mm256_madd_epi16(second, ones)));
        } else {
          of_chunk[row] = _mm256_add_epi16(of_chunk[row], _mm256_add_epi16(_mm256_maddubs_epi16(quads.first, one),
                                                                           _mm256_maddubs_epi16(quads.second, other)));
        }
      }
    }
    if constexpr (!wide)
#pragma GCC unroll 8
      for (int row = 0; row < rows; ++row)
        exact[row] = _mm256_add_epi32(exact[row], _mm256_madd_epi16(of_chunk[row], ones));
  }
}
#endif

template <BlockLayout layout, int rows>
HEADLIGHT_TILE_TARGET void Tile256(const BlockRows& a, std::int64_t first_row, const std::byte* panel, Matrix<float> c,
                                   const float* bias, bool relu, bool prefetch) {
  constexpr int vectors = rows == 1 ? 4 : rows == 2 ? 2 : 1;  // vectors of 8 columns
  constexpr int offset = !IsWide(layout) ? layout.offset : HEADLIGHT_TILE_VNNI ? kRaised : 0;
  for (std::int64_t begin = 0; begin < c.columns; begin += vectors * 8) {
    __m256 sums[rows][vectors];
#pragma GCC unroll 8
    for (auto& row : sums)
#pragma GCC unroll 4
      for (__m256& sum : row) sum = _mm256_setzero_ps();
    const std::byte* at = panel;
    std::int64_t k = 0;
    for (std::int64_t run = 0; run < a.depth / layout.run; ++run) {
      const std::byte* const header = at + begin * std::int64_t{sizeof(std::uint16_t)};
      at += HeaderBytes(layout);
      for (int group = 0; group < layout.run / layout.group; ++group, k += layout.group, at += GroupBytes(layout)) {
        __m256i exact[vectors][rows];
        if (prefetch) PrefetchNextPanel<layout>(at, a.depth, begin, vectors * 8);
        const std::uint8_t* const codes = Unsigned(at) + GroupHeaderBytes(layout) + begin * kQuad;
        const std::int8_t* const left = a.values + first_row * a.depth + k;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
#pragma GCC unroll 8
          for (int row = 0; row < rows; ++row)
            exact[v][row] = offset == 0 ? _mm256_setzero_si256()
                                        : _mm256_set1_epi32(-offset * GroupSum(a, first_row + row, k, layout.group));
          __m256i high = _mm256_setzero_si256();
          if constexpr (layout.bits == 5 || layout.bits == 6) high = Bytes256(codes + LowBytes(layout) + v * 32);
          AddGroup256<layout>(codes + v * 32, high, left, a.depth, exact[v]);
        }
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
          const auto item = [&](const std::byte* items) HEADLIGHT_TILE_LAMBDA {
            return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(items + begin + v * 8));
          };
          __m256 scale = Halves256(header + v * 16);
          if constexpr (layout.scales) scale = _mm256_mul_ps(scale, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(item(at))));
          __m256 min = _mm256_setzero_ps();
          if constexpr (layout.mins) {
            min = Halves256(header + kPanelColumns * std::int64_t{sizeof(std::uint16_t)} + v * 16);
            if constexpr (layout.scales)
              min = _mm256_mul_ps(min, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(item(at + kPanelColumns))));
          }
#pragma GCC unroll 8
          for (int row = 0; row < rows; ++row) {
            const float of_row = ScaleAt(a, first_row + row, k);
            sums[row][v] = _mm256_fmadd_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(exact[v][row]), _mm256_set1_ps(of_row)),
                                           scale, sums[row][v]);
            if constexpr (layout.mins) {
              const float shift = of_row * static_cast<float>(GroupSum(a, first_row + row, k, layout.group));
              sums[row][v] = _mm256_fnmadd_ps(min, _mm256_set1_ps(shift), sums[row][v]);
            }
          }
        }
      }
    }
    const std::int64_t columns = std::min<std::int64_t>(vectors * 8, c.columns - begin);
    for (int row = 0; row < rows; ++row) {
      alignas(32) float all[vectors * 8];
      for (int v = 0; v < vectors; ++v) _mm256_store_ps(all + v * 8, sums[row][v]);
      FinishRow(all, columns, bias == nullptr ? nullptr : bias + begin, relu, c.row(row) + begin);
    }
  }
}

template <BlockLayout layout>
void Product256(const BlockRows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu) {
  static constexpr std::array<int, 3> heights = {1, 2, 4};
  static constexpr std::array<Tile, 3> tiles = {Tile256<layout, 1>, Tile256<layout, 2>, Tile256<layout, 4>};
  ProductByTiles(heights, tiles, a, panel, c, bias, relu);
}

template <BlockLayout layout>
struct Of256 {
  static constexpr BlockProduct product = Product256<layout>;
};

}  // namespace
}  // namespace headlight::kernels
