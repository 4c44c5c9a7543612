#include "headlight/kernels/block_tiles.h"

#if defined(__x86_64__)

#include <algorithm>
#include <array>

#include "headlight/kernels/integer_targets.h"

namespace headlight::kernels {
namespace {

constexpr __mmask16 kAllLanes = 0xffff;  // the unmasked intrinsics cause a warning in g++ 12's own header

// The levels as unsigned bytes. The instruction multiplies unsigned bytes by signed bytes.
constexpr int kLevelOffset = 128;
alignas(16) constexpr std::array<std::uint8_t, 16> kRaisedLevels = [] {
  std::array<std::uint8_t, 16> raised{};
  for (std::size_t code = 0; code < raised.size(); ++code)
    raised[code] = static_cast<std::uint8_t>(kBlockLevels[code] + kLevelOffset);
  return raised;
}();

// The codes of quads 2 p and 2 p + 1 of 16 columns, as unsigned bytes.
struct TwoQuads512 {
  __m512i first, second;
};
template <BlockLayout layout>
[[gnu::always_inline]] HEADLIGHT_VNNI inline TwoQuads512 QuadsAt512(const std::uint8_t* codes, int pair, __m512i high) {
  if constexpr (layout.bits == 8) {
    return {_mm512_loadu_si512(codes + 2 * pair * kQuadBytes), _mm512_loadu_si512(codes + (2 * pair + 1) * kQuadBytes)};
  } else {
    const __m512i low_bits = _mm512_set1_epi8(0xf);
    const __m512i two = _mm512_loadu_si512(codes + pair * kQuadBytes);
    TwoQuads512 quads = {_mm512_and_si512(two, low_bits), _mm512_and_si512(_mm512_srli_epi16(two, 4), low_bits)};
    if constexpr (layout.levels) {
      const __m512i levels = _mm512_maskz_broadcast_i32x4(
          kAllLanes, _mm_load_si128(reinterpret_cast<const __m128i*>(kRaisedLevels.data())));
      quads = {_mm512_shuffle_epi8(levels, quads.first), _mm512_shuffle_epi8(levels, quads.second)};
    } else if constexpr (layout.bits > 4) {
      constexpr int more = layout.bits - 4;
      const __m512i mask = _mm512_set1_epi8(((1 << more) - 1) << 4);
      // Shifts `high` so that bit quad * more becomes bit 4.
      const auto moved = [&](int quad) __attribute__((target("avx512f,avx512bw"), always_inline)) {
        const int by = 4 - quad * more;
        return _mm512_and_si512(by >= 0 ? _mm512_slli_epi16(high, static_cast<unsigned>(by))
                                        : _mm512_srli_epi16(high, static_cast<unsigned>(-by)),
                                mask);
      };
      quads = {_mm512_or_si512(quads.first, moved(2 * pair)), _mm512_or_si512(quads.second, moved(2 * pair + 1))};
    }
    return quads;
  }
}

[[gnu::always_inline]] HEADLIGHT_VNNI inline __m512 Halves512(const std::byte* from) {
  return _mm512_maskz_cvtph_ps(kAllLanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

template <BlockLayout layout, int rows>
HEADLIGHT_VNNI void VnniTile(const BlockRows& a, std::int64_t first_row, const std::byte* panel, Matrix<float> c,
                             const float* bias, bool relu, bool prefetch) {
  // Vectors of 16 columns. The two sums of each row and vector stay in registers.
  constexpr int vectors = rows <= 2 ? 4 : 2;
  constexpr int offset = layout.levels ? kLevelOffset : layout.offset;
  for (std::int64_t begin = 0; begin < c.columns; begin += vectors * 16) {
    __m512 sums[rows][vectors];
#pragma GCC unroll 8
    for (auto& row : sums)
#pragma GCC unroll 4
      for (__m512& sum : row) sum = _mm512_setzero_ps();
    const std::byte* at = panel;
    std::int64_t k = 0;
    for (std::int64_t run = 0; run < a.depth / layout.run; ++run) {
      const std::byte* const header = at + begin * std::int64_t{sizeof(std::uint16_t)};
      at += HeaderBytes(layout);
      for (int group = 0; group < layout.run / layout.group; ++group, k += layout.group, at += GroupBytes(layout)) {
        __m512i exact[rows][vectors];
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row) {
          const __m512i corrected = offset == 0
                                        ? _mm512_setzero_si512()
                                        : _mm512_set1_epi32(-offset * GroupSum(a, first_row + row, k, layout.group));
#pragma GCC unroll 4
          for (__m512i& sum : exact[row]) sum = corrected;
        }
        if (prefetch) PrefetchNextPanel<layout>(at, a.depth, begin, vectors * 16);
        const std::uint8_t* const codes = Unsigned(at) + GroupHeaderBytes(layout) + begin * kQuad;
        const std::int8_t* const left = a.values + first_row * a.depth + k;
        __m512i high[vectors] = {};
        if constexpr (layout.bits == 5 || layout.bits == 6)
#pragma GCC unroll 4
          for (int v = 0; v < vectors; ++v) high[v] = _mm512_loadu_si512(codes + LowBytes(layout) + v * 64);
#pragma GCC unroll 4
        for (int pair = 0; pair < layout.group / (2 * kQuad); ++pair)
#pragma GCC unroll 4
          for (int v = 0; v < vectors; ++v) {
            const TwoQuads512 quads = QuadsAt512<layout>(codes + v * 64, pair, high[v]);
#pragma GCC unroll 8
            for (int row = 0; row < rows; ++row) {
              const std::int8_t* const values = left + row * a.depth + pair * 2 * kQuad;
              exact[row][v] = _mm512_dpbusd_epi32(exact[row][v], quads.first, _mm512_set1_epi32(Four(values)));
              exact[row][v] = _mm512_dpbusd_epi32(exact[row][v], quads.second, _mm512_set1_epi32(Four(values + kQuad)));
            }
          }
        float scales[rows], offsets[rows];
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row) {
          scales[row] = ScaleAt(a, first_row + row, k);
          offsets[row] = scales[row] * static_cast<float>(GroupSum(a, first_row + row, k, layout.group));
        }
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
          const auto item = [&](const std::byte* items) __attribute__((target("avx512f"), always_inline)) {
            return _mm_loadu_si128(reinterpret_cast<const __m128i*>(items + begin + v * 16));
          };
          __m512 scale = Halves512(header + v * 32);
          if constexpr (layout.scales)
            scale = _mm512_mul_ps(scale,
                                  _mm512_maskz_cvtepi32_ps(kAllLanes, _mm512_maskz_cvtepi8_epi32(kAllLanes, item(at))));
#pragma GCC unroll 8
          for (int row = 0; row < rows; ++row)
            sums[row][v] = _mm512_fmadd_ps(
                _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAllLanes, exact[row][v]), _mm512_set1_ps(scales[row])), scale,
                sums[row][v]);
          if constexpr (layout.mins) {
            __m512 min = Halves512(header + kPanelColumns * std::int64_t{sizeof(std::uint16_t)} + v * 32);
            if constexpr (layout.scales)
              min = _mm512_mul_ps(min, _mm512_maskz_cvtepi32_ps(
                                           kAllLanes, _mm512_maskz_cvtepu8_epi32(kAllLanes, item(at + kPanelColumns))));
#pragma GCC unroll 8
            for (int row = 0; row < rows; ++row)
              sums[row][v] = _mm512_fnmadd_ps(min, _mm512_set1_ps(offsets[row]), sums[row][v]);
          }
        }
      }
    }
    const std::int64_t columns = std::min<std::int64_t>(vectors * 16, c.columns - begin);
    for (int row = 0; row < rows; ++row) {
      alignas(64) float all[vectors * 16];
      for (int v = 0; v < vectors; ++v) _mm512_store_ps(all + v * 16, sums[row][v]);
      FinishRow(all, columns, bias == nullptr ? nullptr : bias + begin, relu, c.row(row) + begin);
    }
  }
}

template <BlockLayout layout>
void VnniProduct(const BlockRows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu) {
  static constexpr std::array<int, 4> heights = {1, 2, 4, 6};
  static constexpr std::array<Tile, 4> tiles = {VnniTile<layout, 1>, VnniTile<layout, 2>, VnniTile<layout, 4>,
                                                VnniTile<layout, 6>};
  ProductByTiles(heights, tiles, a, panel, c, bias, relu);
}

template <BlockLayout layout>
struct OfVnni {
  static constexpr BlockProduct product = VnniProduct<layout>;
};

}  // namespace

BlockProduct VnniBlockProduct(GgufType type) { return ProductFor<OfVnni>(type); }

}  // namespace headlight::kernels

#endif
