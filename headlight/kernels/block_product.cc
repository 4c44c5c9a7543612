#include "headlight/kernels/block_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/kernels/block_panel.h"
#include "headlight/kernels/cpu.h"
#include "headlight/kernels/half.h"
#include "headlight/kernels/int8.h"
#include "headlight/kernels/integer_targets.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {
namespace {

std::uint8_t* Unsigned(std::byte* bytes) { return reinterpret_cast<std::uint8_t*>(bytes); }
const std::uint8_t* Unsigned(const std::byte* bytes) { return reinterpret_cast<const std::uint8_t*>(bytes); }

// Number i of a group: its quad, and the byte in the quads of a column.
struct CodePlace {
  CodePlace(std::int64_t column, int i) : quad(i / kQuad), byte(static_cast<int>(column) * kQuad + i % kQuad) {}
  int quad, byte;
};

// `group` is where the group's codes begin.
void PutCode(const BlockLayout& layout, std::int64_t column, int i, std::uint8_t code, std::uint8_t* group) {
  const CodePlace place(column, i);
  if (layout.bits == 8) {
    group[place.quad * kQuadBytes + place.byte] = code;
    return;
  }
  group[place.quad / 2 * kQuadBytes + place.byte] |= static_cast<std::uint8_t>((code & 0xf) << (place.quad % 2 * 4));
  if (layout.bits > 4)
    group[LowBytes(layout) + place.byte] |= static_cast<std::uint8_t>(code >> 4 << (place.quad * (layout.bits - 4)));
}

std::uint8_t CodeAt(const BlockLayout& layout, std::int64_t column, int i, const std::uint8_t* group) {
  const CodePlace place(column, i);
  if (layout.bits == 8) return group[place.quad * kQuadBytes + place.byte];
  const int low = group[place.quad / 2 * kQuadBytes + place.byte] >> (place.quad % 2 * 4) & 0xf;
  if (layout.bits == 4) return static_cast<std::uint8_t>(low);
  const int more = group[LowBytes(layout) + place.byte] >> (place.quad * (layout.bits - 4));
  return static_cast<std::uint8_t>(low | (more & ((1 << (layout.bits - 4)) - 1)) << 4);
}

// Block `index` of a column of a panel.
Block BlockAt(const BlockLayout& layout, const std::byte* panel, std::int64_t index, std::int64_t column) {
  const std::byte* const run = panel + index * RunBytes(layout);
  Block block;
  const auto half = [&](std::int64_t place) {
    std::uint16_t bits;
    std::memcpy(&bits, run + place * std::int64_t{sizeof(bits)}, sizeof(bits));
    return bits;
  };
  block.scale = half(column);
  block.min = layout.mins ? half(kPanelColumns + column) : 0;
  for (int group = 0; group < layout.run / layout.group; ++group) {
    const std::uint8_t* its = Unsigned(run) + HeaderBytes(layout) + group * GroupBytes(layout);
    const auto at = static_cast<std::size_t>(group);
    block.scales[at] = layout.scales ? static_cast<std::int8_t>(its[column]) : std::int8_t{1};
    block.mins[at] = layout.scales && layout.mins ? its[kPanelColumns + column] : 1;
    for (int i = 0; i < layout.group; ++i)
      block.codes[static_cast<std::size_t>(group * layout.group + i)] =
          CodeAt(layout, column, i, its + GroupHeaderBytes(layout));
  }
  return block;
}

// The number that a code stands for before it is scaled.
int LevelOf(const BlockLayout& layout, std::uint8_t code) {
  return layout.levels ? kBlockLevels[code] : code - layout.offset;
}

// The last operations on a sum, in one order for all implementations, so that their results are bit-identical.
[[gnu::always_inline]] inline void FinishRow(const float* sums, std::int64_t columns, const float* bias, bool relu,
                                             float* c) {
  for (std::int64_t i = 0; i < columns; ++i) c[i] = bias == nullptr ? sums[i] : sums[i] + bias[i];
  if (!relu) return;
  for (std::int64_t i = 0; i < columns; ++i) c[i] = c[i] < 0 ? 0 : c[i];
}

// The sum of a row's values over a group that begins at `k`.
[[gnu::always_inline]] inline std::int32_t GroupSum(const BlockRows& a, std::int64_t row, std::int64_t k, int group) {
  const std::int32_t* sums = a.sums + row * (a.depth / kSumRun) + k / kSumRun;
  return group == kSumRun ? sums[0] : sums[0] + sums[1];
}
[[gnu::always_inline]] inline float ScaleAt(const BlockRows& a, std::int64_t row, std::int64_t k) {
  return a.scales[row * (a.depth / kBlockRun) + k / kBlockRun];
}

template <BlockLayout layout>
void PlainProduct(const BlockRows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu) {
  std::array<float, kPanelColumns> sums{};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int8_t* const left = a.values + row * a.depth;
    for (std::int64_t column = 0; column < c.columns; ++column) {
      float sum = 0;
      for (std::int64_t run = 0; run < a.depth / layout.run; ++run) {
        const Block block = BlockAt(layout, panel, run, column);
        for (int group = 0; group < layout.run / layout.group; ++group) {
          const std::int64_t k = run * layout.run + group * layout.group;
          std::int32_t exact = 0;
          for (int i = 0; i < layout.group; ++i)
            exact += LevelOf(layout, block.codes[static_cast<std::size_t>(group * layout.group + i)]) * left[k + i];
          const auto at = static_cast<std::size_t>(group);
          const float scale = ScaleAt(a, row, k);
          sum = std::fma(static_cast<float>(exact) * scale,
                         FloatOfHalf(block.scale) * static_cast<float>(block.scales[at]), sum);
          if (layout.mins)
            sum = std::fma(-FloatOfHalf(block.min) * static_cast<float>(block.mins[at]),
                           scale * static_cast<float>(GroupSum(a, row, k, layout.group)), sum);
        }
      }
      sums[static_cast<std::size_t>(column)] = sum;
    }
    FinishRow(sums.data(), c.columns, bias, relu, c.row(row));
  }
}

#if defined(__x86_64__)

// Products of some rows with a panel, with one instruction set.
using Tile = void (*)(const BlockRows& a, std::int64_t first_row, const std::byte* panel, Matrix<float> c,
                      const float* bias, bool relu);

// Tiles of heights[i] rows, in ascending order from 1 on.
template <std::size_t count>
[[gnu::always_inline]] inline void ProductByTiles(const std::array<int, count>& heights,
                                                  const std::array<Tile, count>& tiles, const BlockRows& a,
                                                  const std::byte* panel, Matrix<float> c, const float* bias,
                                                  bool relu) {
  std::size_t tile = count - 1;
  for (std::int64_t row = 0; row < a.rows; row += heights[tile]) {
    while (heights[tile] > a.rows - row) --tile;
    tiles[tile](a, row, panel, c.Rows(row, heights[tile]), bias, relu);
  }
}

[[gnu::always_inline]] inline std::int32_t Four(const std::int8_t* values) {
  std::int32_t four;
  std::memcpy(&four, values, sizeof(four));
  return four;
}

constexpr __mmask16 kAll = 0xffff;  // the unmasked intrinsics raise a warning in g++ 12's own header

// Levels as unsigned bytes, for products of unsigned with signed bytes.
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
      const __m512i levels =
          _mm512_maskz_broadcast_i32x4(kAll, _mm_load_si128(reinterpret_cast<const __m128i*>(kRaisedLevels.data())));
      quads = {_mm512_shuffle_epi8(levels, quads.first), _mm512_shuffle_epi8(levels, quads.second)};
    } else if constexpr (layout.bits > 4) {
      constexpr int more = layout.bits - 4;
      const __m512i mask = _mm512_set1_epi8(((1 << more) - 1) << 4);
      // Bits 4 and up come from bits quad * more and up.
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
  return _mm512_maskz_cvtph_ps(kAll, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

template <BlockLayout layout, int rows>
HEADLIGHT_VNNI void VnniTile(const BlockRows& a, std::int64_t first_row, const std::byte* panel, Matrix<float> c,
                             const float* bias, bool relu) {
  // Of 16 columns. Both kinds of sums of all rows stay in registers.
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
            scale = _mm512_mul_ps(scale, _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_cvtepi8_epi32(kAll, item(at))));
#pragma GCC unroll 8
          for (int row = 0; row < rows; ++row)
            sums[row][v] = _mm512_fmadd_ps(
                _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, exact[row][v]), _mm512_set1_ps(scales[row])), scale,
                sums[row][v]);
          if constexpr (layout.mins) {
            __m512 min = Halves512(header + kPanelColumns * std::int64_t{sizeof(std::uint16_t)} + v * 32);
            if constexpr (layout.scales)
              min = _mm512_mul_ps(
                  min, _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_cvtepu8_epi32(kAll, item(at + kPanelColumns))));
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

#endif

// The implementation for each block type.
template <template <BlockLayout> class Of>
BlockProduct For(GgufType type) {
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
  ThrowError(Blame::internal, "type {} has no blocks", fmt::make_format_args(InfoOf(type).name));
}

template <BlockLayout layout>
struct Plain {
  static constexpr BlockProduct product = PlainProduct<layout>;
};
#if defined(__x86_64__)
template <BlockLayout layout>
struct Vnni {
  static constexpr BlockProduct product = VnniProduct<layout>;
};
#endif

}  // namespace

std::int64_t BlockPanelBytes(GgufType type, std::int64_t depth) {
  const BlockLayout layout = LayoutOf(type);
  return depth / layout.run * RunBytes(layout);
}

void PackBlockPanel(GgufType type, std::int64_t depth, std::span<const std::byte* const> columns, std::byte* panel) {
  const BlockLayout layout = LayoutOf(type);
  Ensure(std::ssize(columns) <= kPanelColumns && depth % layout.run == 0, "{} columns of depth {} in a panel",
         columns.size(), depth);
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const std::byte* from = columns[column];
    const auto place = static_cast<std::int64_t>(column);
    std::byte* run = panel;
    for (std::int64_t k = 0; k < depth; k += layout.run, from += InfoOf(type).size, run += RunBytes(layout)) {
      const Block block = TakeApart(type, from);
      const auto put = [&](std::int64_t at, std::uint16_t bits) {
        std::memcpy(run + at * std::int64_t{sizeof(bits)}, &bits, sizeof(bits));
      };
      put(place, block.scale);
      if (layout.mins) put(kPanelColumns + place, block.min);
      for (int group = 0; group < layout.run / layout.group; ++group) {
        std::uint8_t* const its = Unsigned(run) + HeaderBytes(layout) + group * GroupBytes(layout);
        const auto at = static_cast<std::size_t>(group);
        if (layout.scales) its[place] = static_cast<std::uint8_t>(block.scales[at]);
        if (layout.scales && layout.mins) its[kPanelColumns + place] = block.mins[at];
        for (int i = 0; i < layout.group; ++i)
          PutCode(layout, place, i, block.codes[static_cast<std::size_t>(group * layout.group + i)],
                  its + GroupHeaderBytes(layout));
      }
    }
  }
}

void UnpackBlockColumn(GgufType type, std::int64_t depth, const std::byte* panel, std::int64_t column, float* numbers) {
  const BlockLayout layout = LayoutOf(type);
  for (std::int64_t index = 0; index < depth / layout.run; ++index)
    NumbersOf(BlockAt(layout, panel, index, column), layout, numbers + index * layout.run);
}

void QuantizeBlockRows(Matrix<const float> x, std::int8_t* values, std::int32_t* sums, float* scales) {
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t row = first; row < first + rows; ++row)
      for (std::int64_t k = 0; k < x.columns; k += kBlockRun) {
        std::int8_t* const to = values + row * x.columns + k;
        scales[(row * x.columns + k) / kBlockRun] = QuantizeRow(x.row(row) + k, kBlockRun, to);
        for (std::int64_t part = 0; part < kBlockRun; part += kSumRun) {
          std::int32_t sum = 0;
          for (std::int64_t i = 0; i < kSumRun; ++i) sum += to[part + i];
          sums[(row * x.columns + k + part) / kSumRun] = sum;
        }
      }
  });
}

const std::vector<BlockPath>& BlockPaths() {
  static const std::vector<BlockPath> paths = [] {
    std::vector<BlockPath> found;
#if defined(__x86_64__)
    if (MayUseVnni()) found.push_back({"AVX-512 VNNI", For<Vnni>});
#endif
    found.push_back({"plain", For<Plain>});
    return found;
  }();
  return paths;
}

}  // namespace headlight::kernels
