#include "headlight/kernels/bfloat16.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "headlight/kernels/gradient_blocks.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {

// Highway 1.0 knows neither rounding to bfloat16 nor products of it, hence the instructions themselves.
#define HEADLIGHT_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

namespace {

// The forms without a mask warn, in g++ 12, of what they leave undefined.
constexpr __mmask16 kAll = 0xffff;

__mmask16 FirstLanes(std::int64_t count) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(count, 0, 16)) - 1);
}

// Two rows, or one and zeros, filled up with zeros to so many columns, a multiple of 16.
HEADLIGHT_BF16 void RoundPair(Matrix<const float> source, std::int64_t row, std::int64_t columns, std::uint16_t* to) {
  for (std::int64_t begin = 0; begin < columns; begin += 16) {
    const __mmask16 live = FirstLanes(source.columns - begin);
    const auto rounded = [&](std::int64_t index) HEADLIGHT_BF16 {
      const __mmask16 mask = index < source.rows ? live : __mmask16{0};
      return _mm512_maskz_cvtepu16_epi32(
          kAll, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, source.row(index) + begin))));
    };
    _mm_prefetch(source.row(row + kRowsAhead) + begin, _MM_HINT_T0);
    _mm_prefetch(source.row(row + 1 + kRowsAhead) + begin, _MM_HINT_T0);
    const __m512i both = _mm512_or_si512(rounded(row), _mm512_maskz_slli_epi32(kAll, rounded(row + 1), 16));
    _mm512_storeu_si512(to + 2 * begin, both);
  }
}

template <int rows>
HEADLIGHT_BF16 void Tile(const Bfloat16Rows& a, const std::uint16_t* right, Matrix<float> c,
                         const Ending<float>& ending) {
  constexpr int vectors = 4;  // of 16 columns
  static_assert(vectors * 16 == kPanelColumns);
  for (std::int64_t begin = 0; begin < c.columns; begin += kPanelColumns) {
    __m512 sums[rows][vectors];
#pragma GCC unroll 8
    for (auto& row : sums)
      for (__m512& sum : row) sum = _mm512_setzero_ps();
    for (int row = 0; row < rows; ++row)
      for (std::int64_t column = begin; column < std::min(begin + kPanelColumns, c.columns); column += 16)
        _mm_prefetch(c.row(row) + column, _MM_HINT_ET0);
    const std::uint16_t* left = a.values;
    for (std::int64_t pair = 0; pair < a.pairs; ++pair, left += a.pair_stride, right += kBfloat16Pair) {
      __m512bh factors[vectors];
      for (int v = 0; v < vectors; ++v) factors[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(right + v * 32));
#pragma GCC unroll 8
      for (int row = 0; row < rows; ++row) {
        std::int32_t two;
        std::memcpy(&two, left + row * a.row_stride, sizeof(two));
        const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(two));
        for (int v = 0; v < vectors; ++v) sums[row][v] = _mm512_dpbf16_ps(sums[row][v], factor, factors[v]);
      }
    }
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row)
      for (int v = 0; v < vectors; ++v) {
        const std::int64_t column = begin + v * 16;
        const __mmask16 live = FirstLanes(c.columns - column);
        float* to = c.row(row) + column;
        __m512 result = sums[row][v];
        if (ending.accumulate) result = _mm512_add_ps(_mm512_maskz_loadu_ps(live, to), result);
        if (ending.bias != nullptr) result = _mm512_add_ps(result, _mm512_maskz_loadu_ps(live, ending.bias + column));
        if (ending.relu) {  // not the greater of the two: a NaN stays
          const __mmask16 negative = _mm512_cmp_ps_mask(result, _mm512_setzero_ps(), _CMP_LT_OQ);
          result = _mm512_mask_blend_ps(negative, result, _mm512_setzero_ps());
        }
        _mm512_mask_storeu_ps(to, live, result);
      }
  }
}

using TileOf = void (*)(const Bfloat16Rows& a, const std::uint16_t* panels, Matrix<float> c,
                        const Ending<float>& ending);
// Six rows of four vectors of sums leave eight registers of 32 for the factors.
constexpr std::array<TileOf, kTileRows> kTiles = {Tile<1>, Tile<2>, Tile<3>, Tile<4>, Tile<5>, Tile<6>};

constexpr std::int64_t kTilePair = 2 * kTileRoom;  // numbers

void PackTiles(Matrix<const float> a, std::uint16_t* to) {
  constexpr std::int64_t step = 4;  // pairs, whose lines stay in the first-level cache from tile to tile
  alignas(64) std::uint16_t rounded[step][2 * kBlockRows + kTilePair];
  const std::int64_t pairs = Bfloat16Pairs(a.rows);
  for (std::int64_t first = 0; first < pairs; first += step) {
    const std::int64_t depth = std::min(step, pairs - first);
    for (std::int64_t pair = 0; pair < depth; ++pair)
      RoundPair(a, 2 * (first + pair), (a.columns + 15) / 16 * 16, rounded[pair]);
    ForTiles(a.columns, [&](std::int64_t tile, std::int64_t row, std::int64_t) {
      std::uint16_t* const tile_to = to + (tile * pairs + first) * kTilePair;
      for (std::int64_t pair = 0; pair < depth; ++pair)
        std::memcpy(tile_to + pair * kTilePair, rounded[pair] + 2 * row, kTilePair * sizeof(std::uint16_t));
    });
  }
}

}  // namespace

void PackBfloat16Panel(Matrix<const float> source, bool transposed, std::uint16_t* panel) {
  if (!transposed) {
    for (std::int64_t row = 0; row < source.rows; row += 2, panel += kBfloat16Pair)
      RoundPair(source, row, kPanelColumns, panel);
    return;
  }
  struct Rounded;
  const std::int64_t pairs = Bfloat16Pairs(source.columns);
  auto* rounded = KeptScratch<Rounded, std::uint16_t>(2 * pairs);
  for (std::int64_t column = 0; column < kPanelColumns; ++column, panel += 2) {
    std::fill_n(rounded, 2 * pairs, std::uint16_t{0});
    if (column < source.rows) ToBfloat16(source.row(column), source.columns, rounded);
    for (std::int64_t pair = 0; pair < pairs; ++pair)
      std::memcpy(panel + pair * kBfloat16Pair, rounded + 2 * pair, 2 * sizeof(std::uint16_t));
  }
}

Bfloat16Rows RoundRows(Matrix<const float> a, std::uint16_t* to) {
  const Bfloat16Rows rounded{to, 2 * Bfloat16Pairs(a.columns), 2, Bfloat16Pairs(a.columns)};
  for (std::int64_t row = 0; row < a.rows; ++row, to += rounded.row_stride) {
    if (a.columns % 2 != 0) to[a.columns] = 0;
    ToBfloat16(a.row(row), a.columns, to);
  }
  return rounded;
}

void Bfloat16Product(const Bfloat16Rows& a, const std::uint16_t* panels, Matrix<float> c, const Ending<float>& ending) {
  ForTiles(c.rows, [&](std::int64_t, std::int64_t row, std::int64_t rows) {
    const Bfloat16Rows part{a.values + row * a.row_stride, a.row_stride, a.pair_stride, a.pairs};
    kTiles[static_cast<std::size_t>(rows - 1)](part, panels, c.Rows(row, rows), ending);
  });
}

void AddTransposedBfloat16(Matrix<const float> a, Matrix<const float> b, Matrix<float> c) {
  AddTransposedInBlocks<float, std::uint16_t>(
      a, b, c, PackTiles,
      [](Matrix<const float> from, std::uint16_t* panel) { PackBfloat16Panel(from, /*transposed=*/false, panel); },
      [](const std::uint16_t* tiles, const std::uint16_t* panel, std::int64_t depth, Matrix<float> block) {
        const std::int64_t pairs = Bfloat16Pairs(depth);
        ForTiles(block.rows, [&](std::int64_t tile, std::int64_t row, std::int64_t rows) {
          kTiles[static_cast<std::size_t>(rows - 1)]({tiles + tile * pairs * kTilePair, 2, kTilePair, pairs}, panel,
                                                     block.Rows(row, rows), {.accumulate = true});
        });
      });
}

HEADLIGHT_BF16 void ToBfloat16(const float* from, std::int64_t count, std::uint16_t* to) {
  constexpr std::int64_t lanes = 16;
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_loadu_ps(from + i))));
  if (i == count) return;
  const __mmask16 rest = FirstLanes(count - i);
  _mm256_mask_storeu_epi16(to + i, rest,
                           reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(rest, from + i))));
}

bool CpuHasBfloat16() {
  static const bool has =
      __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return has;
}

}  // namespace headlight::kernels
