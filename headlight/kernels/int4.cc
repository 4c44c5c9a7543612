#include "headlight/kernels/int4.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "headlight/kernels/cpu.h"
#include "headlight/kernels/int8.h"
#include "headlight/kernels/integer_targets.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {
namespace {

constexpr std::int64_t kQuad = 4;  // number of values in a column that one instruction multiplies and adds
constexpr std::int64_t kHeader = kPanelColumns * std::int64_t{sizeof(float)};
constexpr std::int64_t kQuadPair = kPanelColumns * kQuad;  // bytes of two quads of every column
constexpr std::int64_t kQuadPairs = kInt4Group / (2 * kQuad);
constexpr std::int64_t kGroupBytes = kPanelColumns + kQuadPairs * kQuadPair;

// The offset that makes stored levels unsigned. The sum of two products with int8 values fits into 16 bits.
constexpr std::int8_t kLevelOffset = 64;

alignas(16) constexpr std::array<std::uint8_t, 16> kRaisedLevels = [] {
  std::array<std::uint8_t, 16> raised{};
  for (std::size_t code = 0; code < raised.size(); ++code)
    raised[code] = static_cast<std::uint8_t>(kInt4Levels[code] + kLevelOffset);
  return raised;
}();
static_assert(2 * (kInt4Levels.back() + kLevelOffset) * 127 <= std::numeric_limits<std::int16_t>::max());

struct PanelView {
  explicit PanelView(const std::byte* panel)
      : scales(reinterpret_cast<const float*>(panel)), groups(reinterpret_cast<const std::uint8_t*>(panel + kHeader)) {}
  const std::int8_t* GroupScales(std::int64_t group) const {
    return reinterpret_cast<const std::int8_t*>(groups + group * kGroupBytes);
  }
  // Returns the codes of a group.
  const std::uint8_t* Codes(std::int64_t group) const { return groups + group * kGroupBytes + kPanelColumns; }

  const float* scales;
  const std::uint8_t* groups;
};

// Returns the code of a column's k-th number.
std::uint8_t CodeAt(const PanelView& b, std::int64_t column, std::int64_t k) {
  const std::int64_t in_group = k % kInt4Group, quad = in_group / kQuad;
  const std::uint8_t two = b.Codes(k / kInt4Group)[quad / 2 * kQuadPair + column * kQuad + k % kQuad];
  return quad % 2 == 0 ? two & 0xf : two >> 4;
}

// Scales a row's sums, adds the bias and applies ReLU. All implementations use this order of operations, so their
// results are bit-identical.
[[gnu::always_inline]] inline void FinishRow(const float* sums, std::int64_t columns, float row_scale,
                                             const float* column_scales, const float* bias, bool relu, float* c) {
  for (std::int64_t i = 0; i < columns; ++i)
    c[i] = std::fma(sums[i] * row_scale, column_scales[i], bias == nullptr ? 0 : bias[i]);
  if (!relu) return;
  for (std::int64_t i = 0; i < columns; ++i) c[i] = c[i] < 0 ? 0 : c[i];
}

void PlainProduct(const Int4Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu) {
  const PanelView b(panel);
  const std::int64_t groups = Int4Groups(a.depth);
  std::array<float, kPanelColumns> sums{};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int8_t* left = a.values + row * groups * kInt4Group;
    for (std::int64_t column = 0; column < c.columns; ++column) {
      float sum = 0;
      for (std::int64_t group = 0; group < groups; ++group) {
        std::int32_t of_group = a.offsets[row * groups + group];
        for (std::int64_t k = group * kInt4Group; k < (group + 1) * kInt4Group; ++k)
          of_group += kRaisedLevels[CodeAt(b, column, k)] * left[k];
        sum = std::fma(static_cast<float>(of_group), static_cast<float>(b.GroupScales(group)[column]), sum);
      }
      sums[static_cast<std::size_t>(column)] = sum;
    }
    FinishRow(sums.data(), c.columns, a.scales[row], b.scales, bias, relu, c.row(row));
  }
}

#if defined(__x86_64__)

// Computes the products of some rows with a panel, using one instruction set.
using Tile = void (*)(const Int4Rows& a, std::int64_t first_row, const PanelView& b, Matrix<float> c, const float* bias,
                      bool relu);

// Computes all rows. tiles[i] computes i + 1 rows.
template <std::size_t most>
void ProductByTiles(const std::array<Tile, most>& tiles, const Int4Rows& a, const std::byte* panel, Matrix<float> c,
                    const float* bias, bool relu) {
  const PanelView b(panel);
  for (std::int64_t row = 0; row < a.rows;) {
    const std::int64_t rows = std::min<std::int64_t>(most, a.rows - row);
    tiles[static_cast<std::size_t>(rows - 1)](a, row, b, c.Rows(row, rows), bias, relu);
    row += rows;
  }
}

[[gnu::always_inline]] inline std::int32_t Four(const std::int8_t* values) {
  std::int32_t four;
  std::memcpy(&four, values, sizeof(four));
  return four;
}

constexpr __mmask16 kAll = 0xffff;  // the unmasked intrinsics cause a warning in g++ 12's own header

template <int rows>
HEADLIGHT_VNNI void VnniTile(const Int4Rows& a, std::int64_t first_row, const PanelView& b, Matrix<float> c,
                             const float* bias, bool relu) {
  // Vectors of 16 columns. The two sums of each row and vector stay in registers.
  constexpr int vectors = rows <= 2 ? 4 : 2;
  const std::int64_t groups = Int4Groups(a.depth), stride = groups * kInt4Group;
  const __m512i levels =
      _mm512_maskz_broadcast_i32x4(kAll, _mm_load_si128(reinterpret_cast<const __m128i*>(kRaisedLevels.data())));
  const __m512i low_bits = _mm512_set1_epi8(0xf);
  for (std::int64_t begin = 0; begin < c.columns; begin += vectors * 16) {
    __m512 sums[rows][vectors];
#pragma GCC unroll 8
    for (auto& row : sums)
      for (__m512& sum : row) sum = _mm512_setzero_ps();
    const std::int8_t* left = a.values + first_row * stride;
    for (std::int64_t group = 0; group < groups; ++group, left += kInt4Group) {
      __m512i of_group[rows][vectors];
#pragma GCC unroll 8
      for (int row = 0; row < rows; ++row)
        for (__m512i& sum : of_group[row]) sum = _mm512_set1_epi32(a.offsets[(first_row + row) * groups + group]);
      const std::uint8_t* codes = b.Codes(group) + begin * kQuad;
#pragma GCC unroll 4
      for (std::int64_t pair = 0; pair < kQuadPairs; ++pair)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
          const __m512i two = _mm512_loadu_si512(codes + pair * kQuadPair + v * 64);
          const __m512i first = _mm512_shuffle_epi8(levels, _mm512_and_si512(two, low_bits));
          const __m512i second = _mm512_shuffle_epi8(levels, _mm512_and_si512(_mm512_srli_epi16(two, 4), low_bits));
#pragma GCC unroll 8
          for (int row = 0; row < rows; ++row) {
            const std::int8_t* values = left + row * stride + pair * 2 * kQuad;
            of_group[row][v] = _mm512_dpbusd_epi32(of_group[row][v], first, _mm512_set1_epi32(Four(values)));
            of_group[row][v] = _mm512_dpbusd_epi32(of_group[row][v], second, _mm512_set1_epi32(Four(values + kQuad)));
          }
        }
      const std::int8_t* scales = b.GroupScales(group) + begin;
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        const __m512 scale = _mm512_maskz_cvtepi32_ps(
            kAll, _mm512_maskz_cvtepi8_epi32(kAll, _mm_loadu_si128(reinterpret_cast<const __m128i*>(scales + v * 16))));
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row)
          sums[row][v] = _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(kAll, of_group[row][v]), scale, sums[row][v]);
      }
    }
    const std::int64_t columns = std::min<std::int64_t>(vectors * 16, c.columns - begin);
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row) {
      alignas(64) float all[vectors * 16];
      for (int v = 0; v < vectors; ++v) _mm512_store_ps(all + v * 16, sums[row][v]);
      FinishRow(all, columns, a.scales[first_row + row], b.scales + begin, bias == nullptr ? nullptr : bias + begin,
                relu, c.row(row) + begin);
    }
  }
}

void VnniProduct(const Int4Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu) {
  static constexpr std::array<Tile, 6> tiles = {VnniTile<1>, VnniTile<2>, VnniTile<3>,
                                                VnniTile<4>, VnniTile<5>, VnniTile<6>};
  ProductByTiles(tiles, a, panel, c, bias, relu);
}

template <int rows>
HEADLIGHT_AVX2 void Avx2Tile(const Int4Rows& a, std::int64_t first_row, const PanelView& b, Matrix<float> c,
                             const float* bias, bool relu) {
  constexpr int vectors = rows == 1 ? 4 : 1;  // vectors of 8 columns
  const std::int64_t groups = Int4Groups(a.depth), stride = groups * kInt4Group;
  const __m256i levels =
      _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(kRaisedLevels.data())));
  const __m256i low_bits = _mm256_set1_epi8(0xf), ones = _mm256_set1_epi16(1);
  const auto products = [&](__m256i level, std::int32_t four) __attribute__((target("avx2,fma"), always_inline)) {
    return _mm256_madd_epi16(_mm256_maddubs_epi16(level, _mm256_set1_epi32(four)), ones);
  };
  for (std::int64_t begin = 0; begin < c.columns; begin += vectors * 8) {
    __m256 sums[rows][vectors];
#pragma GCC unroll 8
    for (auto& row : sums)
      for (__m256& sum : row) sum = _mm256_setzero_ps();
    const std::int8_t* left = a.values + first_row * stride;
    for (std::int64_t group = 0; group < groups; ++group, left += kInt4Group) {
      __m256i of_group[rows][vectors];
#pragma GCC unroll 8
      for (int row = 0; row < rows; ++row)
        for (__m256i& sum : of_group[row]) sum = _mm256_set1_epi32(a.offsets[(first_row + row) * groups + group]);
      const std::uint8_t* codes = b.Codes(group) + begin * kQuad;
      for (std::int64_t pair = 0; pair < kQuadPairs; ++pair)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
          const __m256i two = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + pair * kQuadPair + v * 32));
          const __m256i first = _mm256_shuffle_epi8(levels, _mm256_and_si256(two, low_bits));
          const __m256i second = _mm256_shuffle_epi8(levels, _mm256_and_si256(_mm256_srli_epi16(two, 4), low_bits));
#pragma GCC unroll 8
          for (int row = 0; row < rows; ++row) {
            const std::int8_t* values = left + row * stride + pair * 2 * kQuad;
            of_group[row][v] = _mm256_add_epi32(
                of_group[row][v],
                _mm256_add_epi32(products(first, Four(values)), products(second, Four(values + kQuad))));
          }
        }
      const std::int8_t* scales = b.GroupScales(group) + begin;
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        const __m256 scale =
            _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales + v * 8))));
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row)
          sums[row][v] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(of_group[row][v]), scale, sums[row][v]);
      }
    }
    const std::int64_t columns = std::min<std::int64_t>(vectors * 8, c.columns - begin);
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row) {
      alignas(32) float all[vectors * 8];
      for (int v = 0; v < vectors; ++v) _mm256_store_ps(all + v * 8, sums[row][v]);
      FinishRow(all, columns, a.scales[first_row + row], b.scales + begin, bias == nullptr ? nullptr : bias + begin,
                relu, c.row(row) + begin);
    }
  }
}

void Avx2Product(const Int4Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu) {
  static constexpr std::array<Tile, 4> tiles = {Avx2Tile<1>, Avx2Tile<2>, Avx2Tile<3>, Avx2Tile<4>};
  ProductByTiles(tiles, a, panel, c, bias, relu);
}

#endif

constexpr int kLanes = 8;  // independent sums, which the compiler can keep in a vector
static_assert(kInt4Group % kLanes == 0);

[[gnu::always_inline]] inline float SumOf(const float (&lanes)[kLanes]) {
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// Computes the code nearest to x / scale, given 1 / scale. The code is the number of midpoints between levels that are
// below x / scale.
[[gnu::always_inline]] inline void Nearest(const float* x, float inverse, std::int32_t* codes) {
  for (std::int64_t i = 0; i < kInt4Group; ++i) {
    std::int32_t code = 0;
#pragma GCC unroll 16
    for (std::size_t level = 1; level < kInt4Levels.size(); ++level)
      code += x[i] * inverse > 0.5F * static_cast<float>(kInt4Levels[level - 1] + kInt4Levels[level]) ? 1 : 0;
    codes[i] = code;
  }
}

[[gnu::always_inline]] inline void LevelsAt(const float* x, float inverse, float* levels) {
  for (std::int64_t i = 0; i < kInt4Group; ++i) {
    auto nearest = static_cast<float>(kInt4Levels[0]);
#pragma GCC unroll 16
    for (std::size_t level = 1; level < kInt4Levels.size(); ++level)
      nearest = x[i] * inverse > 0.5F * static_cast<float>(kInt4Levels[level - 1] + kInt4Levels[level])
                    ? static_cast<float>(kInt4Levels[level])
                    : nearest;
    levels[i] = nearest;
  }
}

// Returns the group scale with the smallest squared error among several candidates. Each candidate maps the number with
// the largest magnitude near an end of the levels. The candidate's codes then give the least-squares scale sum(x level)
// / sum(level^2).
[[gnu::always_inline]] inline float ScaleOfGroup(const float* x) {
  float largest = 0;
  for (std::int64_t i = 0; i < kInt4Group; ++i) largest = std::abs(x[i]) > std::abs(largest) ? x[i] : largest;
  if (largest == 0) return 0;
  float best = 0, scale = 0;
  for (const float place : {-68.0F, -63.0F, -57.0F, -51.0F, 56.0F, 51.0F, 46.0F, 41.0F}) {
    float levels[kInt4Group], x_level[kLanes] = {}, level_level[kLanes] = {};
    LevelsAt(x, place / largest, levels);
    for (std::int64_t i = 0; i < kInt4Group; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) {
        x_level[lane] += x[i + lane] / largest * levels[i + lane];
        level_level[lane] += levels[i + lane] * levels[i + lane];
      }
    const float fit = SumOf(x_level) / SumOf(level_level), gain = fit * SumOf(x_level);
    if (gain > best) {
      best = gain;
      scale = fit * largest;
    }
  }
  return scale;
}

[[gnu::always_inline]] inline float Quantize(const float* x, std::int64_t count, std::uint8_t* codes,
                                             std::int8_t* group_scales) {
  const std::int64_t groups = Int4Groups(count);
  const auto group_of = [&](std::int64_t group, float* to) {
    const std::int64_t numbers = std::min(kInt4Group, count - group * kInt4Group);
    std::fill(std::copy_n(x + group * kInt4Group, numbers, to), to + kInt4Group, 0.0F);
  };
  std::vector<float> scales(static_cast<std::size_t>(groups));
  float largest = 0, of_group[kInt4Group];
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) {
    finite = finite && std::abs(x[i]) <= std::numeric_limits<float>::max();
    largest = std::max(largest, std::abs(x[i]));
  }
  constexpr float smallest = 1e-30F;
  std::fill_n(codes, groups * kInt4GroupBytes, std::uint8_t{0});
  std::fill_n(group_scales, groups, std::int8_t{0});
  if (!finite) return std::numeric_limits<float>::quiet_NaN();
  if (largest < smallest) return 0;

  largest = 0;
  for (std::int64_t group = 0; group < groups; ++group) {
    group_of(group, of_group);
    float& scale = scales[static_cast<std::size_t>(group)];
    scale = ScaleOfGroup(of_group);
    largest = std::max(largest, std::abs(scale));
  }
  const float unit = largest / 127;
  for (std::int64_t group = 0; group < groups; ++group) {
    group_of(group, of_group);
    const float rounded = std::nearbyint(scales[static_cast<std::size_t>(group)] / unit);
    group_scales[group] = static_cast<std::int8_t>(rounded);
    std::int32_t nearest[kInt4Group];
    Nearest(of_group, rounded == 0 ? 0 : 1 / (rounded * unit), nearest);
    for (std::int64_t i = 0; i < kInt4GroupBytes; ++i)
      codes[group * kInt4GroupBytes + i] = static_cast<std::uint8_t>(nearest[2 * i] | nearest[2 * i + 1] << 4);
  }
  return unit;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) float Avx2Quantize(const float* x, std::int64_t count, std::uint8_t* codes,
                                                   std::int8_t* group_scales) {
  return Quantize(x, count, codes, group_scales);
}
#endif

}  // namespace

float QuantizeInt4(const float* x, std::int64_t count, std::uint8_t* codes, std::int8_t* group_scales) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return Avx2Quantize(x, count, codes, group_scales);
#endif
  return Quantize(x, count, codes, group_scales);
}

void DequantizeInt4(const std::uint8_t* codes, const std::int8_t* group_scales, float scale, std::int64_t count,
                    float* x) {
  for (std::int64_t k = 0; k < count; ++k) {
    const std::uint8_t two = codes[k / 2];
    const int level = kInt4Levels[static_cast<std::size_t>(k % 2 == 0 ? two & 0xf : two >> 4)];
    const int level_of_column = level * group_scales[k / kInt4Group];
    x[k] = static_cast<float>(level_of_column) * scale;
  }
}

std::int64_t Int4PanelBytes(std::int64_t depth) { return kHeader + Int4Groups(depth) * kGroupBytes; }

void PackInt4Column(std::byte* panel, std::int64_t depth, std::int64_t column, const std::uint8_t* codes,
                    const std::int8_t* group_scales, float scale) {
  reinterpret_cast<float*>(panel)[column] = scale;
  for (std::int64_t group = 0; group < Int4Groups(depth); ++group) {
    std::byte* const to = panel + kHeader + group * kGroupBytes;
    reinterpret_cast<std::int8_t*>(to)[column] = group_scales[group];
    const std::uint8_t* from = codes + group * kInt4GroupBytes;
    const auto code = [&](std::int64_t k) { return k % 2 == 0 ? from[k / 2] & 0xf : from[k / 2] >> 4; };
    for (std::int64_t pair = 0; pair < kQuadPairs; ++pair)
      for (std::int64_t i = 0; i < kQuad; ++i)
        to[kPanelColumns + pair * kQuadPair + column * kQuad + i] =
            static_cast<std::byte>(code(pair * 2 * kQuad + i) | code(pair * 2 * kQuad + kQuad + i) << 4);
  }
}

void UnpackInt4Column(const std::byte* panel, std::int64_t depth, std::int64_t column, float* values) {
  const PanelView b(panel);
  for (std::int64_t k = 0; k < depth; ++k) {
    const int level_of_column = kInt4Levels[CodeAt(b, column, k)] * b.GroupScales(k / kInt4Group)[column];
    values[k] = static_cast<float>(level_of_column) * b.scales[column];
  }
}

void QuantizeInt4Rows(Matrix<const float> x, std::int8_t* values, std::int32_t* offsets, float* scales) {
  const std::int64_t groups = Int4Groups(x.columns), stride = groups * kInt4Group;
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t row = first; row < first + rows; ++row) {
      std::int8_t* to = values + row * stride;
      scales[row] = QuantizeRow(x.row(row), x.columns, to);
      std::fill(to + x.columns, to + stride, std::int8_t{0});
      for (std::int64_t group = 0; group < groups; ++group) {
        std::int32_t sum = 0;
        for (std::int64_t i = 0; i < kInt4Group; ++i) sum += to[group * kInt4Group + i];
        offsets[row * groups + group] = -kLevelOffset * sum;
      }
    }
  });
}

const std::vector<Int4Path>& Int4Paths() {
  static const std::vector<Int4Path> paths = [] {
    std::vector<Int4Path> found;
#if defined(__x86_64__)
    if (MayUseVnni()) found.push_back({"AVX-512 VNNI", VnniProduct});
    if (CpuHasAvx2()) found.push_back({"AVX2", Avx2Product});
#endif
    found.push_back({"plain", PlainProduct});
    return found;
  }();
  return paths;
}

}  // namespace headlight::kernels
