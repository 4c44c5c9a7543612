#include "headlight/kernels/block_tiles.h"

#if defined(__x86_64__)

#include <algorithm>
#include <array>

#include "headlight/kernels/integer_targets.h"

namespace headlight::kernels {
namespace {

// Every processor with AVX2 has F16C.
#define HEADLIGHT_BLOCK_AVX2 __attribute__((target("avx2,fma,f16c")))

[[gnu::always_inline]] HEADLIGHT_BLOCK_AVX2 inline __m256i Bytes256(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
[[gnu::always_inline]] HEADLIGHT_BLOCK_AVX2 inline __m256 Halves256(const std::byte* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// The numbers of quads 2 p and 2 p + 1 of 8 columns: codes as unsigned bytes, or, of 8 bits and of levels, signed
// numbers.
struct TwoQuads256 {
  __m256i first, second;
};
template <BlockLayout layout>
[[gnu::always_inline]] HEADLIGHT_BLOCK_AVX2 inline TwoQuads256 QuadsAt256(const std::uint8_t* codes, int pair,
                                                                          __m256i high) {
  if constexpr (layout.bits == 8) {
    const __m256i offset = _mm256_set1_epi8(static_cast<char>(layout.offset));
    return {_mm256_sub_epi8(Bytes256(codes + 2 * pair * kQuadBytes), offset),
            _mm256_sub_epi8(Bytes256(codes + (2 * pair + 1) * kQuadBytes), offset)};
  } else {
    const __m256i low_bits = _mm256_set1_epi8(0xf), two = Bytes256(codes + pair * kQuadBytes);
    TwoQuads256 quads = {_mm256_and_si256(two, low_bits), _mm256_and_si256(_mm256_srli_epi16(two, 4), low_bits)};
    if constexpr (layout.levels) {
      const __m256i levels =
          _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(kBlockLevels.data())));
      quads = {_mm256_shuffle_epi8(levels, quads.first), _mm256_shuffle_epi8(levels, quads.second)};
    } else if constexpr (layout.bits > 4) {
      constexpr int more = layout.bits - 4;
      const __m256i mask = _mm256_set1_epi8(((1 << more) - 1) << 4);
      const auto moved = [&](int quad) __attribute__((target("avx2"), always_inline)) {
        const int by = 4 - quad * more;
        return _mm256_and_si256(by >= 0 ? _mm256_slli_epi16(high, by) : _mm256_srli_epi16(high, -by), mask);
      };
      quads = {_mm256_or_si256(quads.first, moved(2 * pair)), _mm256_or_si256(quads.second, moved(2 * pair + 1))};
    }
    return quads;
  }
}

template <BlockLayout layout, int rows>
HEADLIGHT_BLOCK_AVX2 void Avx2Tile(const BlockRows& a, std::int64_t first_row, const std::byte* panel, Matrix<float> c,
                                   const float* bias, bool relu) {
  constexpr int vectors = rows == 1 ? 4 : rows == 2 ? 2 : 1;  // of 8 columns
  constexpr bool wide = layout.bits == 8 || layout.levels;
  constexpr int offset = wide ? 0 : layout.offset;
  // Pairs of products of codes with 8-bit numbers are summed in 16 bits: 8 quads of 4 bits fit, 4 of 5, 2 of 6.
  constexpr int pairs_in_16_bits = layout.bits == 4 ? 4 : layout.bits == 5 ? 2 : 1;
  constexpr int pairs = layout.group / (2 * kQuad), chunk = std::min(pairs, wide ? 1 : pairs_in_16_bits);
  const __m256i ones = _mm256_set1_epi16(1);
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
        __m256i exact[rows][vectors];
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row) {
          const __m256i corrected = offset == 0
                                        ? _mm256_setzero_si256()
                                        : _mm256_set1_epi32(-offset * GroupSum(a, first_row + row, k, layout.group));
#pragma GCC unroll 4
          for (__m256i& sum : exact[row]) sum = corrected;
        }
        const std::uint8_t* const codes = Unsigned(at) + GroupHeaderBytes(layout) + begin * kQuad;
        const std::int8_t* const left = a.values + first_row * a.depth + k;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
          __m256i high = _mm256_setzero_si256();
          if constexpr (layout.bits == 5 || layout.bits == 6) high = Bytes256(codes + LowBytes(layout) + v * 32);
#pragma GCC unroll 4
          for (int begin_pair = 0; begin_pair < pairs; begin_pair += chunk) {
            __m256i of_chunk[rows];
#pragma GCC unroll 8
            for (__m256i& sum : of_chunk) sum = _mm256_setzero_si256();
#pragma GCC unroll 4
            for (int pair = begin_pair; pair < begin_pair + chunk; ++pair) {
              const TwoQuads256 quads = QuadsAt256<layout>(codes + v * 32, pair, high);
#pragma GCC unroll 8
              for (int row = 0; row < rows; ++row) {
                const std::int8_t* const values = left + row * a.depth + pair * 2 * kQuad;
                const __m256i one = _mm256_set1_epi32(Four(values)), other = _mm256_set1_epi32(Four(values + kQuad));
                if constexpr (wide) {
                  const __m256i first =
                      _mm256_maddubs_epi16(_mm256_abs_epi8(quads.first), _mm256_sign_epi8(one, quads.first));
                  const __m256i second =
                      _mm256_maddubs_epi16(_mm256_abs_epi8(quads.second), _mm256_sign_epi8(other, quads.second));
                  exact[row][v] = _mm256_add_epi32(
                      exact[row][v], _mm256_add_epi32(_mm256_madd_epi16(first, ones), _mm256_madd_epi16(second, ones)));
                } else {
                  of_chunk[row] =
                      _mm256_add_epi16(of_chunk[row], _mm256_add_epi16(_mm256_maddubs_epi16(quads.first, one),
                                                                       _mm256_maddubs_epi16(quads.second, other)));
                }
              }
            }
            if constexpr (!wide)
#pragma GCC unroll 8
              for (int row = 0; row < rows; ++row)
                exact[row][v] = _mm256_add_epi32(exact[row][v], _mm256_madd_epi16(of_chunk[row], ones));
          }
        }
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
          const auto item = [&](const std::byte* items) __attribute__((target("avx2"), always_inline)) {
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
            sums[row][v] = _mm256_fmadd_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(exact[row][v]), _mm256_set1_ps(of_row)),
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
void Avx2Product(const BlockRows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu) {
  static constexpr std::array<int, 3> heights = {1, 2, 4};
  static constexpr std::array<Tile, 3> tiles = {Avx2Tile<layout, 1>, Avx2Tile<layout, 2>, Avx2Tile<layout, 4>};
  ProductByTiles(heights, tiles, a, panel, c, bias, relu);
}

template <BlockLayout layout>
struct OfAvx2 {
  static constexpr BlockProduct product = Avx2Product<layout>;
};

}  // namespace

BlockProduct Avx2BlockProduct(GgufType type) { return ProductFor<OfAvx2>(type); }

}  // namespace headlight::kernels

#endif
