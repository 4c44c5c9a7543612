#include "headlight/kernels/block_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/kernels/block_tiles.h"
#include "headlight/kernels/cpu.h"
#include "headlight/kernels/half.h"
#include "headlight/kernels/int8.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {
namespace {

// The position of element i in a group: the index of the quad, and the byte in the quads of all columns.
struct CodePosition {
  CodePosition(std::int64_t column, int i) : quad(i / kQuad), byte(static_cast<int>(column) * kQuad + i % kQuad) {}
  int quad, byte;
};

std::uint32_t QuadAt(const std::uint8_t* codes) {
  std::uint32_t quad;
  std::memcpy(&quad, codes, sizeof(quad));
  return quad;
}

// Writes the codes of one column to a group, four codes at a time. The group's codes begin at `group`.
void PutCodes(const BlockLayout& layout, std::int64_t column, const std::uint8_t* codes, std::uint8_t* group) {
  const auto put = [](std::uint8_t* to, std::uint32_t quad) { std::memcpy(to, &quad, sizeof(quad)); };
  group += column * kQuad;
  if (layout.bits == 8) {
    for (int i = 0; i < layout.group; i += kQuad, group += kQuadBytes) put(group, QuadAt(codes + i));
    return;
  }
  const int more = layout.bits - 4;
  const std::uint32_t low_bits = 0x0f0f0f0f, more_bits = 0x01010101U * ((1U << more) - 1);
  std::uint32_t plane = 0;
  for (int quad = 0; quad < layout.group / kQuad; quad += 2, codes += 2 * kQuad, group += kQuadBytes) {
    const std::uint32_t one = QuadAt(codes), other = QuadAt(codes + kQuad);
    put(group, (one & low_bits) | (other & low_bits) << 4);
    plane |= (one >> 4 & more_bits) << (quad * more) | (other >> 4 & more_bits) << ((quad + 1) * more);
  }
  if (more > 0) put(group, plane);
}

std::uint8_t CodeAt(const BlockLayout& layout, std::int64_t column, int i, const std::uint8_t* group) {
  const CodePosition position(column, i);
  if (layout.bits == 8) return group[position.quad * kQuadBytes + position.byte];
  const int low = group[position.quad / 2 * kQuadBytes + position.byte] >> (position.quad % 2 * 4) & 0xf;
  if (layout.bits == 4) return static_cast<std::uint8_t>(low);
  const int more = group[LowBytes(layout) + position.byte] >> (position.quad * (layout.bits - 4));
  return static_cast<std::uint8_t>(low | (more & ((1 << (layout.bits - 4)) - 1)) << 4);
}

// Returns block `index` of a column of a panel.
Block BlockAt(const BlockLayout& layout, const std::byte* panel, std::int64_t index, std::int64_t column) {
  const std::byte* const run = panel + index * RunBytes(layout);
  Block block;
  const auto half = [&](std::int64_t position) {
    std::uint16_t bits;
    std::memcpy(&bits, run + position * std::int64_t{sizeof(bits)}, sizeof(bits));
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

// Returns the number that a code represents before it is scaled.
int LevelOf(const BlockLayout& layout, std::uint8_t code) {
  return layout.levels ? kBlockLevels[code] : code - layout.offset;
}

template <BlockLayout layout>
void PlainProduct(const BlockRows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu) {
  std::vector<float> sums(static_cast<std::size_t>(a.rows));
  for (std::int64_t column = 0; column < c.columns; ++column) {
    std::ranges::fill(sums, 0.0F);
    for (std::int64_t run = 0; run < a.depth / layout.run; ++run) {
      const Block block = BlockAt(layout, panel, run, column);
      for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int8_t* const left = a.values + row * a.depth;
        float& sum = sums[static_cast<std::size_t>(row)];
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
    }
    for (std::int64_t row = 0; row < a.rows; ++row)
      FinishRow(&sums[static_cast<std::size_t>(row)], 1, bias == nullptr ? nullptr : bias + column, relu,
                c.row(row) + column);
  }
}

template <BlockLayout layout>
struct OfPlain {
  static constexpr BlockProduct product = PlainProduct<layout>;
};

}  // namespace

std::int64_t BlockPanelBytes(GgufType type, std::int64_t depth) {
  const BlockLayout layout = LayoutOf(type);
  return depth / layout.run * RunBytes(layout);
}

void PackBlockPanel(GgufType type, std::int64_t depth, std::span<const std::byte* const> columns, std::byte* panel) {
  const BlockLayout layout = LayoutOf(type);
  Ensure(std::ssize(columns) <= kPanelColumns && depth % layout.run == 0, "a panel cannot have {} columns of depth {}",
         columns.size(), depth);
  const std::int64_t size = InfoOf(type).size;
  std::byte* run = panel;
  for (std::int64_t index = 0; index < depth / layout.run; ++index, run += RunBytes(layout))
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const auto position = static_cast<std::int64_t>(column);
      const Block block = SplitBlock(type, columns[column] + index * size);
      const auto put = [&](std::int64_t at, std::uint16_t bits) {
        std::memcpy(run + at * std::int64_t{sizeof(bits)}, &bits, sizeof(bits));
      };
      put(position, block.scale);
      if (layout.mins) put(kPanelColumns + position, block.min);
      for (int group = 0; group < layout.run / layout.group; ++group) {
        std::uint8_t* const its = Unsigned(run) + HeaderBytes(layout) + group * GroupBytes(layout);
        const auto at = static_cast<std::size_t>(group);
        if (layout.scales) its[position] = static_cast<std::uint8_t>(block.scales[at]);
        if (layout.scales && layout.mins) its[kPanelColumns + position] = block.mins[at];
        PutCodes(layout, position, block.codes.data() + group * layout.group, its + GroupHeaderBytes(layout));
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
    if (MayUseVnni()) found.push_back({"AVX-512 VNNI", VnniBlockProduct});
    if (MayUseAvxVnni()) found.push_back({"AVX-VNNI", AvxVnniBlockProduct});
    if (CpuHasAvx2()) found.push_back({"AVX2", Avx2BlockProduct});
#endif
    found.push_back({"Highway", HighwayBlockProduct});
    found.push_back({"plain", ProductFor<OfPlain>});
    return found;
  }();
  return paths;
}

}  // namespace headlight::kernels
