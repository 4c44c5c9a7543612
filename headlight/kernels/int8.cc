#include "headlight/kernels/int8.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "headlight/kernels/amx.h"
#include "headlight/kernels/cpu.h"
#include "headlight/kernels/integer_targets.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {
namespace {

constexpr std::int64_t kQuad = 4;  // number of integers in a column that one instruction multiplies and adds
constexpr std::int64_t kHeader = kPanelColumns * (sizeof(float) + 2 * sizeof(std::int32_t));
constexpr std::int64_t kQuadRow = kPanelColumns * kQuad;  // bytes of a row of quads

struct PanelView {
  explicit PanelView(const std::byte* panel)
      : scales(reinterpret_cast<const float*>(panel)),
        offsets(reinterpret_cast<const std::int32_t*>(scales + kPanelColumns)),
        negative(offsets + kPanelColumns),
        values(reinterpret_cast<const std::int8_t*>(panel + kHeader)) {}
  const float* scales;
  const std::int32_t* offsets;   // correction of each sum if 128 is added to stored left-hand values
  const std::int32_t* negative;  // sum of each column's negative integers
  const std::int8_t* values;     // [depth / 4][64][4]
};

// Scales a row's sums, adds the bias and applies ReLU. All implementations use this order of operations, so their
// results are bit-identical.
[[gnu::always_inline]] inline void FinishRow(const std::int32_t* sums, std::int64_t columns, float row_scale,
                                             const float* column_scales, const float* bias, bool relu, float* c) {
  for (std::int64_t i = 0; i < columns; ++i)
    c[i] = std::fma(static_cast<float>(sums[i]) * row_scale, column_scales[i], bias == nullptr ? 0 : bias[i]);
  if (!relu) return;
  for (std::int64_t i = 0; i < columns; ++i) c[i] = c[i] < 0 ? 0 : c[i];
}

void PlainProduct(const Int8Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu,
                  const std::byte*) {
  const PanelView b(panel);
  const std::int64_t stride = Int8Stride(a.depth);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::array<std::int32_t, kPanelColumns> sums{};
    for (std::int64_t k = 0; k < a.depth; ++k) {
      const auto left = static_cast<std::int8_t>(a.values[row * stride + k]);
      const std::int8_t* right = b.values + k / kQuad * kQuadRow + k % kQuad;
      for (std::int64_t column = 0; column < c.columns; ++column)
        sums[static_cast<std::size_t>(column)] += left * right[column * kQuad];
    }
    FinishRow(sums.data(), c.columns, a.scales[row], b.scales, bias, relu, c.row(row));
  }
}

#if defined(__x86_64__)

// Computes the products of some rows with a panel, using one instruction set. Tiles[i] computes i + 1 rows. Prefetches
// `next_lines` cache lines at `next`.
using Tile = void (*)(const std::uint8_t* a, std::int64_t a_stride, std::int64_t quads, const PanelView& b,
                      const float* row_scales, Matrix<float> c, const float* bias, bool relu, const std::byte* next,
                      std::int64_t next_lines);
using Tiles = std::array<Tile, kTileRows>;

// Computes all rows by tiles. Each tile prefetches its share of the panel `next`.
void ProductByTiles(const Tiles& tiles, const Int8Rows& a, const std::byte* panel, Matrix<float> c, const float* bias,
                    bool relu, const std::byte* next) {
  const PanelView b(panel);
  const std::int64_t stride = Int8Stride(a.depth);
  const std::int64_t count = TilesOf(a.rows), lines = next == nullptr ? 0 : Int8PanelBytes(a.depth) / Lines::kBytes;
  ForTiles(a.rows, [&](std::int64_t tile, std::int64_t row, std::int64_t rows) {
    const std::int64_t first = lines * tile / count, last = lines * (tile + 1) / count;
    tiles[static_cast<std::size_t>(rows - 1)](a.values + row * stride, stride, stride / kQuad, b, a.scales + row,
                                              c.Rows(row, rows), bias, relu, next + first * Lines::kBytes,
                                              last - first);
  });
}

HEADLIGHT_VNNI inline __mmask16 FirstLanes(std::int64_t count) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(count, 0, 16)) - 1);
}

// Applies FinishRow to 16 columns, of which only the columns in `live` are active.
HEADLIGHT_VNNI __attribute__((always_inline)) inline void FinishLanes(__m512i sums, __mmask16 live, float row_scale,
                                                                      __m512 column_scales, __m512 biases, bool relu,
                                                                      float* c) {
  const __m512 scaled = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(live, sums), _mm512_set1_ps(row_scale));
  __m512 result = _mm512_fmadd_ps(scaled, column_scales, biases);
  if (relu) {
    const __mmask16 negative = _mm512_cmp_ps_mask(result, _mm512_setzero_ps(), _CMP_LT_OQ);
    result = _mm512_mask_blend_ps(negative, result, _mm512_setzero_ps());
  }
  _mm512_mask_storeu_ps(c, live, result);
}

// Computes a tile. Prefetches the rows of c, and `next_lines` cache lines at `next`.
template <int rows>
HEADLIGHT_VNNI void VnniTile(const std::uint8_t* a, std::int64_t a_stride, std::int64_t quads, const PanelView& b,
                             const float* row_scales, Matrix<float> c, const float* bias, bool relu,
                             const std::byte* next, std::int64_t next_lines) {
  constexpr int vectors = 4;  // vectors of 16 columns
  LineList ask;
  for (int row = 0; row < rows; ++row) ask.AddRow(c.row(row), c.columns);
  ask.Add(next, next_lines);
  const Lines* lines = ask.Finish(a, quads);
  __m512i sums[rows][vectors];
#pragma GCC unroll 8
  for (auto& row : sums)
    for (int v = 0; v < vectors; ++v)
      row[v] = _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_loadu_si512(b.offsets + v * 16));
  const std::int8_t* values = b.values;
  for (const std::int8_t* const end = values + quads * kQuadRow; values != end; ++lines) {
    const char* ahead = lines->first;
    const std::int8_t* const until = values + std::min(end - values, lines->count * kQuadRow);
    for (; values != until; values += kQuadRow, a += kQuad, ahead += lines->apart) {
      _mm_prefetch(ahead, _MM_HINT_T0);
      __m512i right[vectors];
      for (int v = 0; v < vectors; ++v) right[v] = _mm512_loadu_si512(values + v * 64);
#pragma GCC unroll 8
      for (int row = 0; row < rows; ++row) {
        std::int32_t four;
        std::memcpy(&four, a + row * a_stride, sizeof(four));
        const __m512i left = _mm512_set1_epi32(four);
        for (int v = 0; v < vectors; ++v) sums[row][v] = _mm512_dpbusd_epi32(sums[row][v], left, right[v]);
      }
    }
  }
  for (int v = 0; v < vectors; ++v) {
    const __mmask16 live = FirstLanes(c.columns - 16 * v);
    const __m512 scales = _mm512_loadu_ps(b.scales + 16 * v);
    const __m512 biases = bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(live, bias + 16 * v);
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row)
      FinishLanes(sums[row][v], live, row_scales[row], scales, biases, relu, c.row(row) + 16 * v);
  }
}

void VnniProduct(const Int8Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu,
                 const std::byte* next) {
  // The sums of six rows of four vectors leave 8 of 32 registers for the operands.
  static constexpr Tiles tiles = {VnniTile<1>, VnniTile<2>, VnniTile<3>, VnniTile<4>, VnniTile<5>, VnniTile<6>};
  ProductByTiles(tiles, a, panel, c, bias, relu, next);
}

HEADLIGHT_VNNI void AmxProduct(const Int8Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu,
                               const std::byte*) {
  const PanelView b(panel);
  const std::int64_t stride = Int8Stride(a.depth);
  ForAmxBlocks(a.rows, [&](std::int64_t row, std::int64_t rows) HEADLIGHT_VNNI {
    const std::int64_t width = AmxColumns(rows);
    for (std::int64_t begin = 0; begin < c.columns; begin += width) {
      alignas(64) std::int32_t sums[kAmxRows * AmxColumns(kAmxRows)];
      AmxMultiplyInt8({.a = a.values + row * stride,
                       .row_stride = stride,
                       .rows = rows,
                       .units = stride / kQuad,
                       .b = b.values + begin * kQuad,
                       .to = sums,
                       .to_stride = width * std::ptrdiff_t{sizeof(std::int32_t)}});
      for (std::int64_t column = begin; column < std::min(begin + width, c.columns); column += 16) {
        const __mmask16 live = FirstLanes(c.columns - column);
        const __m512 scales = _mm512_loadu_ps(b.scales + column);
        const __m512 biases = bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(live, bias + column);
        for (std::int64_t i = row; i < row + rows; ++i)
          FinishLanes(_mm512_load_si512(sums + (i - row) * width + column - begin), live, a.scales[i], scales, biases,
                      relu, c.row(i) + column);
      }
    }
  });
}

template <typename T>
HEADLIGHT_AVX2 inline __m256i LoadBytes(const T* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

// Returns four values of a row, repeated eight times.
HEADLIGHT_AVX2 inline __m256i FourOf(const std::uint8_t* from) {
  std::int32_t four;
  std::memcpy(&four, from, sizeof(four));
  return _mm256_set1_epi32(four);
}

// Returns the prefetches of a pass over columns [begin, begin + columns) of a tile: these columns of the rows of c, and
// a share of the lines at `next`.
const Lines* PrefetchesOf(LineList& ask, const std::uint8_t* a, std::int64_t quads, Matrix<float> c, std::int64_t begin,
                          std::int64_t columns, const std::byte* next, std::int64_t next_lines) {
  for (std::int64_t row = 0; row < c.rows; ++row) ask.AddRow(c.row(row) + begin, columns);
  const std::int64_t first = next_lines * begin / c.columns, last = next_lines * (begin + columns) / c.columns;
  ask.Add(next + first * Lines::kBytes, last - first);
  return ask.Finish(a, quads);
}

// Applies FinishRow to the rows of a tile.
template <int rows, int vectors>
HEADLIGHT_AVX2 inline void StoreTile(const __m256i (&sums)[rows][vectors], const float* row_scales,
                                     const float* column_scales, const float* bias, bool relu, Matrix<float> c) {
  if (c.columns == vectors * 8) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      const __m256 scales = _mm256_loadu_ps(column_scales + v * 8);
      const __m256 biases = bias == nullptr ? _mm256_setzero_ps() : _mm256_loadu_ps(bias + v * 8);
#pragma GCC unroll 8
      for (int row = 0; row < rows; ++row) {
        const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(sums[row][v]), _mm256_set1_ps(row_scales[row]));
        __m256 result = _mm256_fmadd_ps(scaled, scales, biases);
        if (relu) result = _mm256_andnot_ps(_mm256_cmp_ps(result, _mm256_setzero_ps(), _CMP_LT_OQ), result);
        _mm256_storeu_ps(c.row(row) + v * 8, result);
      }
    }
    return;
  }
#pragma GCC unroll 8
  for (int row = 0; row < rows; ++row) {
    alignas(32) std::int32_t all[vectors * 8];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) _mm256_store_si256(reinterpret_cast<__m256i*>(all + v * 8), sums[row][v]);
    FinishRow(all, c.columns, row_scales[row], column_scales, bias, relu, c.row(row));
  }
}

// Computes a tile. The byte product instruction saturates sums of two products at 16 bits. Products of |b| and a with
// b's sign are at most 128 * 127, so the sum of two products fits. Inverting the bits of a is faster than negating it:
// ~a is -a - 1, so b < 0 adds b to the sum, which the first value of the sum corrects. With few rows, the product is
// bound by reading the panel, which is fastest in memory order. Prefetches the rows of c, and `next_lines` cache lines
// at `next`. On Zen 5, this reaches 115 billion products per second. Negating would reach 110, and unsigned left-hand
// values, whose sums may saturate, 135. Products of 16 bits reach 68 to 90. Tiles of 5 x 16 or 4 x 32 are not faster.
template <int rows>
HEADLIGHT_AVX2 void Avx2Tile(const std::uint8_t* a, std::int64_t a_stride, std::int64_t quads, const PanelView& b,
                             const float* row_scales, Matrix<float> c, const float* bias, bool relu,
                             const std::byte* next, std::int64_t next_lines) {
  constexpr int vectors = rows == 1 ? 8 : rows == 2 ? 4 : 2;  // vectors of 8 columns
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::int64_t begin = 0; begin < c.columns; begin += vectors * 8) {
    const std::int64_t columns = std::min<std::int64_t>(vectors * 8, c.columns - begin);
    LineList ask;
    const Lines* lines = PrefetchesOf(ask, a, quads, c, begin, columns, next, next_lines);
    __m256i sums[rows][vectors];
#pragma GCC unroll 8
    for (auto& row : sums)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v)
        row[v] = _mm256_sub_epi32(_mm256_setzero_si256(), LoadBytes(b.negative + begin + v * 8));
    const std::int8_t* values = b.values + begin * kQuad;
    const std::uint8_t* left = a;
    for (const std::int8_t* const end = values + quads * kQuadRow; values != end; ++lines) {
      const char* ahead = lines->first;
      const std::int8_t* const until = values + std::min(end - values, lines->count * kQuadRow);
      for (; values != until; values += kQuadRow, left += kQuad, ahead += lines->apart) {
        _mm_prefetch(ahead, _MM_HINT_T0);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
          const __m256i right = LoadBytes(values + v * 32);
          const __m256i size = _mm256_abs_epi8(right), negative = _mm256_cmpgt_epi8(_mm256_setzero_si256(), right);
#pragma GCC unroll 8
          for (int row = 0; row < rows; ++row) {
            const __m256i four = FourOf(left + row * a_stride);
            const __m256i pairs = _mm256_maddubs_epi16(size, _mm256_xor_si256(four, negative));
            sums[row][v] = _mm256_add_epi32(sums[row][v], _mm256_madd_epi16(pairs, ones));
          }
        }
      }
    }
    StoreTile(sums, row_scales, b.scales + begin, bias == nullptr ? nullptr : bias + begin, relu,
              c.Columns(begin, columns));
  }
}

void Avx2Product(const Int8Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu,
                 const std::byte* next) {
  static constexpr Tiles tiles = {Avx2Tile<1>, Avx2Tile<2>, Avx2Tile<3>, Avx2Tile<4>, Avx2Tile<5>, Avx2Tile<6>};
  ProductByTiles(tiles, a, panel, c, bias, relu, next);
}

// Computes the results of Avx2Tile with AVX-VNNI's instruction, which does not saturate and requires unsigned left-hand
// values.
template <int rows>
HEADLIGHT_AVX_VNNI void AvxVnniTile(const std::uint8_t* a, std::int64_t a_stride, std::int64_t quads,
                                    const PanelView& b, const float* row_scales, Matrix<float> c, const float* bias,
                                    bool relu, const std::byte* next, std::int64_t next_lines) {
  constexpr int vectors = rows == 1 ? 8 : rows <= 3 ? 4 : 2;  // vectors of 8 columns
  for (std::int64_t begin = 0; begin < c.columns; begin += vectors * 8) {
    const std::int64_t columns = std::min<std::int64_t>(vectors * 8, c.columns - begin);
    LineList ask;
    const Lines* lines = PrefetchesOf(ask, a, quads, c, begin, columns, next, next_lines);
    __m256i sums[rows][vectors];
#pragma GCC unroll 8
    for (auto& row : sums)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v)
        row[v] = _mm256_sub_epi32(_mm256_setzero_si256(), LoadBytes(b.offsets + begin + v * 8));
    const std::int8_t* values = b.values + begin * kQuad;
    const std::uint8_t* left = a;
    for (const std::int8_t* const end = values + quads * kQuadRow; values != end; ++lines) {
      const char* ahead = lines->first;
      const std::int8_t* const until = values + std::min(end - values, lines->count * kQuadRow);
      for (; values != until; values += kQuadRow, left += kQuad, ahead += lines->apart) {
        _mm_prefetch(ahead, _MM_HINT_T0);
        __m256i right[vectors];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) right[v] = LoadBytes(values + v * 32);
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row) {
          const __m256i four = FourOf(left + row * a_stride);
#pragma GCC unroll 8
          for (int v = 0; v < vectors; ++v) sums[row][v] = _mm256_dpbusd_avx_epi32(sums[row][v], four, right[v]);
        }
      }
    }
    StoreTile(sums, row_scales, b.scales + begin, bias == nullptr ? nullptr : bias + begin, relu,
              c.Columns(begin, columns));
  }
}

void AvxVnniProduct(const Int8Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu,
                    const std::byte* next) {
  static constexpr Tiles tiles = {AvxVnniTile<1>, AvxVnniTile<2>, AvxVnniTile<3>,
                                  AvxVnniTile<4>, AvxVnniTile<5>, AvxVnniTile<6>};
  ProductByTiles(tiles, a, panel, c, bias, relu, next);
}

#endif

// The factor by which a row's elements are multiplied, and the row's scale. If the factor is 0, all integers become 0.
struct QuantizedBy {
  float inverse, scale;
};

// Returns the factor and scale of a row, given the bits of its largest absolute value.
inline QuantizedBy QuantizedFor(std::int32_t largest_bits) {
  const auto largest = std::bit_cast<float>(largest_bits);
  constexpr float smallest = 1e-30F;  // the inverse of this value is still finite
  if (largest < smallest) return {0, 0};
  if (!(largest <= std::numeric_limits<float>::max())) return {0, std::numeric_limits<float>::quiet_NaN()};
  return {127 / largest, largest / 127};
}

// Quantizes a row to integers plus `zero`, and returns the scale. Uses bit operations if float operations would prevent
// vectorization.
[[gnu::always_inline]] inline float Quantize(const float* x, std::int64_t count, std::uint8_t zero,
                                             std::uint8_t* quantized) {
  std::int32_t largest_bits = 0;
  for (std::int64_t i = 0; i < count; ++i)
    largest_bits = std::max(largest_bits, std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
  const QuantizedBy by = QuantizedFor(largest_bits);
  if (by.inverse == 0) {
    std::fill_n(quantized, count, zero);
    return by.scale;
  }
  constexpr float rounder = 12582912;  // 1.5 * 2^23: adding it leaves the rounded integer in the low bits
  for (std::int64_t i = 0; i < count; ++i)
    quantized[i] = static_cast<std::uint8_t>(std::bit_cast<std::int32_t>(x[i] * by.inverse + rounder) -
                                             std::bit_cast<std::int32_t>(rounder) + zero);
  return by.scale;
}

float PlainQuantize(const float* x, std::int64_t count, std::uint8_t zero, std::uint8_t* quantized) {
  return Quantize(x, count, zero, quantized);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) float Avx2Quantize(const float* x, std::int64_t count, std::uint8_t zero,
                                                   std::uint8_t* quantized) {
  return Quantize(x, count, zero, quantized);
}

__attribute__((target("avx512f"))) float Avx512Quantize(const float* x, std::int64_t count, std::uint8_t zero,
                                                        std::uint8_t* quantized) {
  const auto for_vectors = [&](const auto& body) __attribute__((target("avx512f"), always_inline)) {
    std::int64_t i = 0;
    for (; i + 16 <= count; i += 16) body(i, __mmask16{0xffff});
    if (i < count) body(i, static_cast<__mmask16>((1U << (count - i)) - 1));
  };
  const __m512i size = _mm512_set1_epi32(0x7fffffff);
  __m512i largest = _mm512_setzero_si512();
  for_vectors([&](std::int64_t i, __mmask16 live) __attribute__((target("avx512f"), always_inline)) {
    const __m512i sizes = _mm512_maskz_and_epi32(live, size, _mm512_maskz_loadu_epi32(live, x + i));
    largest = _mm512_mask_max_epi32(largest, live, largest, sizes);
  });
  alignas(64) std::array<std::int32_t, 16> of_lanes;
  _mm512_store_si512(of_lanes.data(), largest);
  const QuantizedBy by = QuantizedFor(*std::ranges::max_element(of_lanes));
  const __m512 inverse = _mm512_set1_ps(by.inverse);
  for_vectors([&](std::int64_t i, __mmask16 live) __attribute__((target("avx512f"), always_inline)) {
    if (by.inverse == 0) live = 0;  // avoids NaN from an infinite number times 0
    const __m512 numbers = _mm512_mul_ps(_mm512_maskz_loadu_ps(live, x + i), inverse);
    const __m512i rounded =
        _mm512_maskz_cvt_roundps_epi32(live, numbers, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512i values = _mm512_add_epi32(rounded, _mm512_set1_epi32(zero));
    _mm512_mask_cvtepi32_storeu_epi8(quantized + i,
                                     static_cast<__mmask16>((1U << std::min<std::int64_t>(count - i, 16)) - 1), values);
  });
  return by.scale;
}
#endif

auto BestQuantize() -> float (*)(const float*, std::int64_t, std::uint8_t, std::uint8_t*) {
#if defined(__x86_64__)
  if (MayUseAvx512() && __builtin_cpu_supports("avx512f")) return Avx512Quantize;
  if (__builtin_cpu_supports("avx2")) return Avx2Quantize;
#endif
  return PlainQuantize;
}

}  // namespace

float QuantizeRow(const float* x, std::int64_t count, std::int8_t* quantized) {
  return BestQuantize()(x, count, 0, reinterpret_cast<std::uint8_t*>(quantized));
}

std::int64_t Int8Stride(std::int64_t depth) { return (depth + kQuad - 1) / kQuad * kQuad; }

void QuantizeRows(Matrix<const float> x, std::uint8_t zero, std::uint8_t* values, float* scales) {
  const auto quantize = BestQuantize();
  const std::int64_t stride = Int8Stride(x.columns);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t row = first; row < first + rows; ++row) {
      std::uint8_t* to = values + row * stride;
      scales[row] = quantize(x.row(row), x.columns, zero, to);
      std::fill(to + x.columns, to + stride, zero);
    }
  });
}

std::int64_t Int8PanelBytes(std::int64_t depth) { return kHeader + Int8Stride(depth) * kPanelColumns; }

void PackInt8Column(std::byte* panel, std::int64_t depth, std::int64_t column, const std::int8_t* values, float scale) {
  std::int32_t sum = 0, negative = 0;
  auto* to = reinterpret_cast<std::int8_t*>(panel + kHeader) + column * kQuad;
  for (std::int64_t k = 0; k < Int8Stride(depth); ++k) {
    const std::int8_t value = k < depth ? values[k] : std::int8_t{0};
    to[k / kQuad * kQuadRow + k % kQuad] = value;
    sum += value;
    negative += std::min<std::int32_t>(value, 0);
  }
  reinterpret_cast<float*>(panel)[column] = scale;
  auto* const sums = reinterpret_cast<std::int32_t*>(panel + kPanelColumns * sizeof(float));
  sums[column] = 128 * sum;
  sums[kPanelColumns + column] = negative;
}

void UnpackInt8Column(const std::byte* panel, std::int64_t depth, std::int64_t column, float* values) {
  const PanelView b(panel);
  const std::int8_t* from = b.values + column * kQuad;
  for (std::int64_t k = 0; k < depth; ++k) {
    const std::int8_t quantized = from[k / kQuad * kQuadRow + k % kQuad];
    values[k] = b.scales[column] * static_cast<float>(quantized);
  }
}

const std::vector<Int8Path>& Int8Paths() {
  static const std::vector<Int8Path> paths = [] {
    std::vector<Int8Path> found;
#if defined(__x86_64__)
    if (MayUseAmx() && MayUseVnni()) found.push_back({"AMX", AmxProduct, 0, /*least_rows=*/8});
    if (MayUseVnni()) found.push_back({"AVX-512 VNNI", VnniProduct, 128});
    if (MayUseAvxVnni()) found.push_back({"AVX-VNNI", AvxVnniProduct, 128});
    if (CpuHasAvx2()) found.push_back({"AVX2", Avx2Product, 0});
#endif
    found.push_back({"plain", PlainProduct, 0});
    return found;
  }();
  return paths;
}

const Int8Path& Int8PathFor(std::int64_t rows) {
  return *std::ranges::find_if(Int8Paths(), [&](const Int8Path& path) { return rows >= path.least_rows; });
}

}  // namespace headlight::kernels
