#include "headlight/kernels/bfloat16.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "headlight/base/error.h"
#include "headlight/kernels/amx.h"
#include "headlight/kernels/cpu.h"
#include "headlight/kernels/gradient_blocks.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {

void UnpackBfloat16Column(std::int64_t depth, const std::uint16_t* panel, std::int64_t column, float* numbers) {
  for (std::int64_t k = 0; k < depth; ++k) {
    const std::uint16_t bits = panel[k / 2 * kBfloat16Pair + 2 * column + k % 2];
    numbers[k] = std::bit_cast<float>(std::uint32_t{bits} << 16);
  }
}

}  // namespace headlight::kernels

#if defined(__x86_64__)
#include <immintrin.h>

namespace headlight::kernels {

// Highway 1.0 has neither rounding to bfloat16 nor bfloat16 products, so this file uses intrinsics.
#define HEADLIGHT_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

namespace {

// A mask of all lanes. The unmasked intrinsics cause a warning in g++ 12's headers.
constexpr __mmask16 kAll = 0xffff;

__mmask16 FirstLanes(std::int64_t count) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(count, 0, 16)) - 1);
}

// The permutation 0, 16, 1, 17, ..., which interleaves two vectors of 16 elements into pairs.
alignas(64) constexpr auto kPaired = [] {
  std::array<std::uint16_t, 32> from{};
  for (std::uint16_t i = 0; i < 32; ++i) from[i] = static_cast<std::uint16_t>(i / 2 + i % 2 * 16);
  return from;
}();

// Rounds rows `row` and row + 1 (or zeros after the last row), zero-padded to `columns`, a multiple of 16.
HEADLIGHT_BF16 __attribute__((always_inline)) inline void RoundPair(const Matrix<const float>& source, std::int64_t row,
                                                                    std::int64_t columns, std::uint16_t* to) {
  const __m512i paired = _mm512_load_si512(kPaired.data());
  const bool is_last = row + 1 == source.rows;
  const float *first = source.row(row), *second = is_last ? first : source.row(row + 1);
  const auto round = [&](std::int64_t begin, __mmask16 live) HEADLIGHT_BF16 __attribute__((always_inline)) {
    const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(is_last ? __mmask16{0} : live, second + begin),
                                              _mm512_maskz_loadu_ps(live, first + begin));
    _mm512_storeu_si512(to + 2 * begin,
                        _mm512_maskz_permutexvar_epi16(~__mmask32{0}, paired, reinterpret_cast<__m512i>(both)));
  };
  std::int64_t begin = 0;
  for (; begin + 16 <= source.columns; begin += 16) round(begin, kAll);
  for (; begin < columns; begin += 16) round(begin, FirstLanes(source.columns - begin));
}

// Transposes 16 lines of 16 pairs: line i of the result has pair i of each line. Strides are in elements.
HEADLIGHT_BF16 void Transpose16(const std::uint16_t* from, std::ptrdiff_t stride, std::uint16_t* to,
                                std::ptrdiff_t to_stride) {
  constexpr int kLines = 16;
  __m512i lines[kLines], other[kLines];
#pragma GCC unroll 16
  for (int i = 0; i < kLines; ++i) lines[i] = _mm512_loadu_si512(from + i * stride);
#pragma GCC unroll 16
  for (int i = 0; i < kLines; i += 2) {
    other[i] = _mm512_maskz_unpacklo_epi32(kAll, lines[i], lines[i + 1]);
    other[i + 1] = _mm512_maskz_unpackhi_epi32(kAll, lines[i], lines[i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kLines; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      lines[i + 2 * j] = _mm512_maskz_unpacklo_epi64(0xff, other[i + j], other[i + j + 2]);
      lines[i + 2 * j + 1] = _mm512_maskz_unpackhi_epi64(0xff, other[i + j], other[i + j + 2]);
    }
    // At this point, quarter q of lines[4 i + j] contains number 4 q + j of lines 4 i to 4 i + 3.
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i low01 = _mm512_maskz_shuffle_i32x4(kAll, lines[j], lines[4 + j], 0x44);
    const __m512i high01 = _mm512_maskz_shuffle_i32x4(kAll, lines[j], lines[4 + j], 0xee);
    const __m512i low23 = _mm512_maskz_shuffle_i32x4(kAll, lines[8 + j], lines[12 + j], 0x44);
    const __m512i high23 = _mm512_maskz_shuffle_i32x4(kAll, lines[8 + j], lines[12 + j], 0xee);
    const auto store = [&](int quarter, __m512i line)
                           HEADLIGHT_BF16 { _mm512_storeu_si512(to + (4 * quarter + j) * to_stride, line); };
    store(0, _mm512_maskz_shuffle_i32x4(kAll, low01, low23, 0x88));
    store(1, _mm512_maskz_shuffle_i32x4(kAll, low01, low23, 0xdd));
    store(2, _mm512_maskz_shuffle_i32x4(kAll, high01, high23, 0x88));
    store(3, _mm512_maskz_shuffle_i32x4(kAll, high01, high23, 0xdd));
  }
}

constexpr int kTileVectors = 4;  // vectors of 16 columns
static_assert(kTileVectors * 16 == kPanelColumns);

template <int rows>
HEADLIGHT_BF16 __attribute__((always_inline)) inline void AddProducts(const std::uint16_t* left,
                                                                      std::ptrdiff_t row_stride,
                                                                      const std::uint16_t* right,
                                                                      __m512 (&sums)[rows][kTileVectors]) {
  __m512bh factors[kTileVectors];
  for (int v = 0; v < kTileVectors; ++v) factors[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(right + v * 32));
#pragma GCC unroll 8
  for (int row = 0; row < rows; ++row) {
    std::int32_t two;
    std::memcpy(&two, left + row * row_stride, sizeof(two));
    const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(two));
    for (int v = 0; v < kTileVectors; ++v) sums[row][v] = _mm512_dpbf16_ps(sums[row][v], factor, factors[v]);
  }
}

// The data to prefetch during a tile: pairs [first, last) of the adjacent panels at `panels`, unless `panels` is null,
// and the rows that are packed next.
struct Following {
  const std::uint16_t* panels = nullptr;
  std::int64_t first = 0, last = 0;
  ToPack<float> to_pack = {};
};

template <int rows>
HEADLIGHT_BF16 void Tile(const Bfloat16Rows& a, const std::uint16_t* panels, Matrix<float> c,
                         const Epilogue<float>& epilogue, const Following& following) {
  for (std::int64_t begin = 0; begin < c.columns; begin += kPanelColumns) {
    __m512 sums[rows][kTileVectors];
#pragma GCC unroll 8
    for (auto& row : sums)
      for (__m512& sum : row) sum = _mm512_setzero_ps();
    const std::int64_t index = begin / kPanelColumns * a.pairs * kBfloat16Pair;
    LineList ask;
    const std::int64_t columns = std::min(kPanelColumns, c.columns - begin);
    for (int row = 0; row < rows; ++row) ask.AddRow(c.row(row) + begin, columns);
    if (epilogue.added.data != c.data && epilogue.added.data != nullptr)
      for (int row = 0; row < rows; ++row) ask.AddRow(epilogue.added.row(row) + begin, columns);
    if (following.panels != nullptr)
      ask.AddRow(following.panels + index + following.first * kBfloat16Pair,
                 (following.last - following.first) * kBfloat16Pair);
    for (const Matrix<const float>& part : following.to_pack)
      for (std::int64_t row = 0; row < part.rows; ++row) ask.AddRow(part.row(row), part.columns);
    const Lines* lines = ask.Finish(a.values, a.pairs);

    const std::uint16_t *left = a.values, *right = panels + index;
    const std::uint16_t* const end = right + a.pairs * kBfloat16Pair;
    for (; right != end; ++lines) {
      const char* ahead = lines->first;
      const std::uint16_t* const until = right + std::min(end - right, lines->count * kBfloat16Pair);
      for (; right != until; left += a.pair_stride, right += kBfloat16Pair, ahead += lines->apart) {
        _mm_prefetch(ahead, _MM_HINT_T0);
        AddProducts(left, a.row_stride, right, sums);
      }
    }

    __mmask16 live[kTileVectors];
    for (int v = 0; v < kTileVectors; ++v) live[v] = FirstLanes(c.columns - begin - 16 * v);
    const auto for_all = [&](const auto& change) HEADLIGHT_BF16 __attribute__((always_inline)) {
#pragma GCC unroll 8
      for (int row = 0; row < rows; ++row)
        for (int v = 0; v < kTileVectors; ++v) sums[row][v] = change(sums[row][v], live[v], row, begin + 16 * v);
    };
    if (epilogue.added.data != nullptr)
      for_all([&](__m512 sum, __mmask16 lanes, int row, std::int64_t column) HEADLIGHT_BF16 {
        return _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, epilogue.added.row(row) + column), sum);
      });
    if (epilogue.bias != nullptr)
      for_all([&](__m512 sum, __mmask16 lanes, int, std::int64_t column)
                  HEADLIGHT_BF16 { return _mm512_add_ps(sum, _mm512_maskz_loadu_ps(lanes, epilogue.bias + column)); });
    if (epilogue.relu)  // unlike max, keeps NaN
      for_all([&](__m512 sum, __mmask16, int, std::int64_t) HEADLIGHT_BF16 {
        const __mmask16 negative = _mm512_cmp_ps_mask(sum, _mm512_setzero_ps(), _CMP_LT_OQ);
        return _mm512_mask_blend_ps(negative, sum, _mm512_setzero_ps());
      });
    for_all([&](__m512 sum, __mmask16 lanes, int row, std::int64_t column) HEADLIGHT_BF16 {
      _mm512_mask_storeu_ps(c.row(row) + column, lanes, sum);
      return sum;
    });
  }
}

using TileOf = void (*)(const Bfloat16Rows& a, const std::uint16_t* panels, Matrix<float> c,
                        const Epilogue<float>& epilogue, const Following& following);
// The sums of six rows of four vectors leave 8 of 32 registers for the operands.
constexpr std::array<TileOf, kTileRows> kTiles = {Tile<1>, Tile<2>, Tile<3>, Tile<4>, Tile<5>, Tile<6>};

constexpr std::int64_t kTilePair = 2 * kTileRoom;  // in elements

// Computes one block of a product with AMX, of at most AmxColumns(rows) columns. The sums start with the epilogue's
// `added`.
HEADLIGHT_BF16 void AmxTile(AmxBlock block, Matrix<float> c, const Epilogue<float>& epilogue) {
  const std::int64_t width = AmxColumns(c.rows);
  constexpr std::int64_t bytes = sizeof(float);
  const bool whole = c.columns == width, adds = epilogue.added.data != nullptr;
  const Matrix<const float> bias{epilogue.bias, c.rows, c.columns, 0};  // repeats the same row
  const Matrix<const float> first = adds ? epilogue.added : bias;
  const float* const last = adds ? epilogue.bias : nullptr;
  const bool in_place = whole && !epilogue.relu && last == nullptr;
  alignas(64) float copy[kAmxRows * AmxColumns(kAmxRows)];
  block.rows = c.rows;
  block.from = first.data;
  block.from_stride = first.stride * bytes;
  if (!whole && first.data != nullptr) {
    for (std::int64_t row = 0; row < c.rows; ++row) {
      std::copy_n(first.row(row), c.columns, copy + row * width);
      std::fill(copy + row * width + c.columns, copy + (row + 1) * width, 0.0F);
    }
    block.from = copy;
    block.from_stride = width * bytes;
  }
  block.to = in_place ? c.data : copy;
  block.to_stride = (in_place ? c.stride : width) * bytes;
  AmxMultiplyBfloat16(block);
  for (std::int64_t row = 0; row < c.rows && !in_place; ++row)
    for (std::int64_t column = 0; column < c.columns; column += 16) {
      const __mmask16 live = FirstLanes(c.columns - column);
      __m512 sum = _mm512_loadu_ps(copy + row * width + column);
      if (last != nullptr) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(live, last + column));
      const __mmask16 negative = _mm512_cmp_ps_mask(sum, _mm512_setzero_ps(), _CMP_LT_OQ);
      if (epilogue.relu) sum = _mm512_mask_blend_ps(negative, sum, _mm512_setzero_ps());  // NaN stays NaN
      _mm512_mask_storeu_ps(c.row(row) + column, live, sum);
    }
}

void AmxProduct(const Bfloat16Rows& a, const std::uint16_t* panels, Matrix<float> c, const Epilogue<float>& epilogue) {
  ForAmxBlocks(c.rows, [&](std::int64_t row, std::int64_t rows) {
    const Epilogue<float> of_rows = epilogue.Rows(row, rows);
    const std::int64_t width = AmxColumns(rows);
    for (std::int64_t column = 0; column < c.columns; column += width) {
      const std::int64_t columns = std::min(width, c.columns - column);
      AmxTile({.a = a.values + row * a.row_stride,
               .row_stride = a.row_stride * std::ptrdiff_t{sizeof(std::uint16_t)},
               .units = a.pairs,
               .b = panels + column / kPanelColumns * a.pairs * kBfloat16Pair + column % kPanelColumns * 2},
              c.Rows(row, rows).Columns(column, columns), of_rows.Columns(column, columns));
    }
  });
}

struct Packing {
  using Number = std::uint16_t;
  static constexpr std::int64_t kRows = kTileRows, kDepth = 320, kTogether = 8;
  static constexpr std::int64_t TileSize(std::int64_t depth) { return Bfloat16Pairs(depth) * kTilePair; }

  HEADLIGHT_BF16 static void PackTiles(Matrix<const float> a, std::int64_t first, std::int64_t tile_size,
                                       std::uint16_t* to) {
    alignas(64) std::uint16_t rounded[kTogether / 2][2 * kBlockRows + kTilePair];
    for (std::int64_t row = 0; row < a.rows; row += 2) RoundPair(a, row, (a.columns + 15) / 16 * 16, rounded[row / 2]);
    ForTiles(a.columns, [&](std::int64_t tile, std::int64_t column, std::int64_t) {
      std::uint16_t* const tile_to = to + tile * tile_size + first / 2 * kTilePair;
      for (std::int64_t pair = 0; pair < Bfloat16Pairs(a.rows); ++pair)
        std::memcpy(tile_to + pair * kTilePair, rounded[pair] + 2 * column, kTilePair * sizeof(std::uint16_t));
    });
  }

  static void PackPanel(Matrix<const float> b, std::int64_t first, std::uint16_t* to) {
    PackBfloat16Panel(b, /*transposed=*/false, to + first * kPanelColumns);
  }
  static void PackPanel(const UnfoldedPart<float>& b, std::int64_t first, std::uint16_t* to) {
    constexpr std::int64_t together = 16;  // number of rows that fit into the first-level cache
    alignas(64) float rows[together * kPanelColumns];
    for (std::int64_t row = 0; row < b.rows; row += together) {
      const Matrix<float> some{rows, std::min(together, b.rows - row), b.columns, b.columns};
      b.Rows(row, some.rows).Read(some);
      PackBfloat16Panel(some, /*transposed=*/false, to + (first + row) * kPanelColumns);
    }
  }

  static void Multiply(const std::uint16_t* tile, const std::uint16_t* panel, std::int64_t depth, Matrix<float> c,
                       const ToPack<float>& next) {
    kTiles[static_cast<std::size_t>(c.rows - 1)]({tile, 2, kTilePair, Bfloat16Pairs(depth)}, panel, c, {.added = c},
                                                 {.to_pack = next});
  }
  static void Finish() {}
};

// The packed layout for AMX: rows of a^T in tiles. The 16 pairs of a step are adjacent in each row.
struct AmxPacking : Packing {
  static constexpr std::int64_t kRows = kAmxRows, kDepth = 320, kTogether = 2 * kAmxUnits;
  static constexpr std::int64_t kStep = kAmxRows * 2 * kAmxUnits;  // in elements
  static constexpr std::int64_t TileSize(std::int64_t depth) { return (depth + kTogether - 1) / kTogether * kStep; }

  HEADLIGHT_BF16 static void PackTiles(Matrix<const float> a, std::int64_t first, std::int64_t tile_size,
                                       std::uint16_t* to) {
    constexpr std::int64_t width = 2 * (kBlockRows + kAmxRows);
    alignas(64) std::uint16_t rounded[kAmxUnits][width];
    const std::int64_t pairs = Bfloat16Pairs(a.rows);
    for (std::int64_t pair = 0; pair < kAmxUnits; ++pair) {
      if (pair < pairs)
        RoundPair(a, 2 * pair, (a.columns + 15) / 16 * 16, rounded[pair]);
      else
        std::fill_n(rounded[pair], width, std::uint16_t{0});
    }
    ForTiles<kRows>(a.columns, [&](std::int64_t tile, std::int64_t column, std::int64_t columns) {
      std::uint16_t* const tile_to = to + tile * tile_size + first / kTogether * kStep;
      for (std::int64_t begin = 0; begin < columns; begin += kAmxUnits)
        Transpose16(rounded[0] + 2 * (column + begin), width, tile_to + begin * 2 * kAmxUnits, 2 * kAmxUnits);
    });
  }

  static void Multiply(const std::uint16_t* tile, const std::uint16_t* panel, std::int64_t depth, Matrix<float> c,
                       const ToPack<float>&) {
    if (c.rows != configured) AmxConfigure(configured = c.rows);
    for (std::int64_t column = 0; column < c.columns; column += AmxColumns(c.rows)) {
      const Matrix<float> its = c.Columns(column, std::min(AmxColumns(c.rows), c.columns - column));
      AmxTile({.a = tile,
               .row_stride = 2 * kAmxUnits * std::ptrdiff_t{sizeof(std::uint16_t)},
               .step_stride = kStep * std::ptrdiff_t{sizeof(std::uint16_t)},
               .units = Bfloat16Pairs(depth),
               .b = panel + 2 * column},
              its, {.added = its});
    }
  }
  static void Finish() { AmxConfigure(configured = 0); }

  static thread_local inline std::int64_t configured = 0;  // rows for which this thread's tiles are configured
};

}  // namespace

HEADLIGHT_BF16 void PackBfloat16Panel(Matrix<const float> source, bool transposed, std::uint16_t* panel) {
  if (!transposed) {
    for (std::int64_t row = 0; row < source.rows; row += 2, panel += kBfloat16Pair) {
      Prefetch(source, row + kRowsAhead, 2);
      RoundPair(source, row, kPanelColumns, panel);
    }
    return;
  }
  const std::int64_t pairs = Bfloat16Pairs(source.columns);
  constexpr std::int64_t kLines = 16;
  struct Rounded;
  const std::int64_t stride = (2 * pairs + 2 * kLines - 1) / (2 * kLines) * 2 * kLines;
  auto* rounded = KeptScratch<Rounded, std::uint16_t>(kLines * stride);
  alignas(64) std::uint16_t turned[kLines][2 * kLines];
  for (std::int64_t first = 0; first < kPanelColumns; first += kLines) {
    for (std::int64_t line = 0; line < kLines; ++line) {
      const std::int64_t column = first + line, live = column < source.rows ? source.columns : 0;
      std::fill(rounded + line * stride + live / 32 * 32, rounded + (line + 1) * stride, std::uint16_t{0});
      if (live != 0) ToBfloat16(source.row(column), live, rounded + line * stride);
    }
    std::uint16_t* const to = panel + 2 * first;
    for (std::int64_t pair = 0; pair < pairs; pair += kLines) {
      const std::int64_t count = std::min(kLines, pairs - pair);
      if (count == kLines) {
        Transpose16(rounded + 2 * pair, stride, to + pair * kBfloat16Pair, kBfloat16Pair);
        continue;
      }
      Transpose16(rounded + 2 * pair, stride, turned[0], 2 * kLines);
      for (std::int64_t line = 0; line < count; ++line)
        std::memcpy(to + (pair + line) * kBfloat16Pair, turned[line], sizeof(turned[line]));
    }
  }
}

void RoundRows(Matrix<const float> a, std::uint16_t* to) {
  for (std::int64_t row = 0; row < a.rows; ++row, to += 2 * Bfloat16Pairs(a.columns)) {
    if (a.columns % 2 != 0) to[a.columns] = 0;
    ToBfloat16(a.row(row), a.columns, to);
  }
}

HEADLIGHT_BF16 void RoundTransposed(Matrix<const float> a, std::uint16_t* to) {
  constexpr std::int64_t kLines = 16, kColumns = 64;
  const std::int64_t depth = (a.rows + 2 * kLines - 1) / (2 * kLines) * 2 * kLines;
  alignas(64) std::uint16_t rounded[kLines][2 * kColumns], turned[kLines][2 * kLines];
  for (std::int64_t first = 0; first < a.columns; first += kColumns) {
    const std::int64_t columns = std::min(kColumns, a.columns - first);
    const Matrix<const float> some = a.Columns(first, columns);
    for (std::int64_t row = 0; row < a.rows; row += 2 * kLines) {
      for (std::int64_t pair = 0; pair < kLines; ++pair) {
        if (row + 2 * pair < a.rows)
          RoundPair(some, row + 2 * pair, (columns + kLines - 1) / kLines * kLines, rounded[pair]);
        else
          std::fill_n(rounded[pair], 2 * kColumns, std::uint16_t{0});
      }
      for (std::int64_t column = 0; column < columns; column += kLines) {
        std::uint16_t* const its = to + (first + column) * depth + row;
        const std::int64_t count = std::min(kLines, columns - column);
        Transpose16(rounded[0] + 2 * column, 2 * kColumns, count == kLines ? its : turned[0],
                    count == kLines ? depth : 2 * kLines);
        for (std::int64_t line = 0; line < count && count != kLines; ++line)
          std::memcpy(its + line * depth, turned[line], sizeof(turned[line]));
      }
    }
  }
}

void Bfloat16Product(const Bfloat16Rows& a, const std::uint16_t* panels, Matrix<float> c,
                     const Epilogue<float>& epilogue, const std::uint16_t* next) {
  if (MayUseAmx() && a.pair_stride == 2) return AmxProduct(a, panels, c, epilogue);
  const std::int64_t tiles = TilesOf(c.rows);
  ForTiles(c.rows, [&](std::int64_t tile, std::int64_t row, std::int64_t rows) {
    const Bfloat16Rows part{a.values + row * a.row_stride, a.row_stride, a.pair_stride, a.pairs};
    kTiles[static_cast<std::size_t>(rows - 1)](part, panels, c.Rows(row, rows), epilogue.Rows(row, rows),
                                               {next, a.pairs * tile / tiles, a.pairs * (tile + 1) / tiles, {}});
  });
}

void AddTransposedBfloat16(Matrix<const float> a, Matrix<const float> b, Matrix<float> c) {
  MayUseAmx() ? AddTransposedInBlocks<AmxPacking>(a, b, c) : AddTransposedInBlocks<Packing>(a, b, c);
}

void AddTransposedBfloat16(Matrix<const float> a, const UnfoldedPart<float>& b, Matrix<float> c) {
  MayUseAmx() ? AddTransposedInBlocks<AmxPacking>(a, b, c) : AddTransposedInBlocks<Packing>(a, b, c);
}

HEADLIGHT_BF16 void ToBfloat16(const float* from, std::int64_t count, std::uint16_t* to) {
  for (; count >= 32; count -= 32, from += 32, to += 32)
    _mm512_storeu_si512(
        to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + 16), _mm512_loadu_ps(from))));
  const auto rest = static_cast<__mmask32>((std::uint64_t{1} << count) - 1);
  const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(FirstLanes(count - 16), from + 16),
                                            _mm512_maskz_loadu_ps(FirstLanes(count), from));
  if (count != 0) _mm512_mask_storeu_epi16(to, rest, reinterpret_cast<__m512i>(both));
}

}  // namespace headlight::kernels

#else

namespace headlight::kernels {

namespace {
void Lacking() { Ensure(false, "bfloat16 on a processor without it"); }
}  // namespace

void ToBfloat16(const float*, std::int64_t, std::uint16_t*) { Lacking(); }
void PackBfloat16Panel(Matrix<const float>, bool, std::uint16_t*) { Lacking(); }
void RoundRows(Matrix<const float>, std::uint16_t*) { Lacking(); }
void RoundTransposed(Matrix<const float>, std::uint16_t*) { Lacking(); }
void Bfloat16Product(const Bfloat16Rows&, const std::uint16_t*, Matrix<float>, const Epilogue<float>&,
                     const std::uint16_t*) {
  Lacking();
}
void AddTransposedBfloat16(Matrix<const float>, Matrix<const float>, Matrix<float>) { Lacking(); }
void AddTransposedBfloat16(Matrix<const float>, const UnfoldedPart<float>&, Matrix<float>) { Lacking(); }

}  // namespace headlight::kernels
#endif
