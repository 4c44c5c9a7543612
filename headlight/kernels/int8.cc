#include "headlight/kernels/int8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "headlight/kernels/amx.h"
#include "headlight/kernels/cpu.h"
#include "headlight/kernels/integer_targets.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {
namespace {

constexpr std::int64_t kHeader = kPanelColumns * (sizeof(float) + 2 * sizeof(std::int32_t));
constexpr std::int64_t kQuadRow = kPanelColumns * kInt8Quad;  // bytes of a row of quads

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

using FloatEpilogue = Epilogue<float>;

// Scales the sums of a row of c, and applies the epilogue: first the bias, then the added matrix and ReLU. All
// implementations use this order of operations, so their results are bit-identical.
[[gnu::always_inline]] inline void FinishRow(const std::int32_t* sums, float row_scale, const float* column_scales,
                                             const FloatEpilogue& epilogue, Matrix<float> c, std::int64_t row) {
  float* const to = c.row(row);
  for (std::int64_t i = 0; i < c.columns; ++i)
    to[i] = std::fma(static_cast<float>(sums[i]) * row_scale, column_scales[i],
                     epilogue.bias == nullptr ? 0 : epilogue.bias[i]);
  if (epilogue.added.data != nullptr)
    for (std::int64_t i = 0; i < c.columns; ++i) to[i] += epilogue.added.row(row)[i];
  if (!epilogue.relu) return;
  for (std::int64_t i = 0; i < c.columns; ++i) to[i] = to[i] < 0 ? 0 : to[i];
}

void PlainProduct(const Int8Rows& a, const std::byte* panel, Matrix<float> c, const FloatEpilogue& epilogue,
                  const std::byte*) {
  const PanelView b(panel);
  const std::int64_t stride = Int8Stride(a.depth);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::array<std::int32_t, kPanelColumns> sums{};
    for (std::int64_t k = 0; k < a.depth; ++k) {
      const auto left = static_cast<std::int8_t>(a.values[row * stride + k]);
      const std::int8_t* right = b.values + k / kInt8Quad * kQuadRow + k % kInt8Quad;
      for (std::int64_t column = 0; column < c.columns; ++column)
        sums[static_cast<std::size_t>(column)] += left * right[column * kInt8Quad];
    }
    FinishRow(sums.data(), a.scales[row], b.scales, epilogue, c, row);
  }
}

#if defined(__x86_64__)

// Computes the products of some rows with a panel, using one instruction set. Tiles[i] computes i + 1 rows. Prefetches
// `next_lines` cache lines at `next`.
using Tile = void (*)(const std::uint8_t* a, std::int64_t a_stride, std::int64_t quads, const PanelView& b,
                      const float* row_scales, Matrix<float> c, const FloatEpilogue& epilogue, const std::byte* next,
                      std::int64_t next_lines);
using Tiles = std::array<Tile, kTileRows>;

// Computes all rows by tiles. Each tile prefetches its share of the panel `next`.
void ProductByTiles(const Tiles& tiles, const Int8Rows& a, const std::byte* panel, Matrix<float> c,
                    const FloatEpilogue& epilogue, const std::byte* next) {
  const PanelView b(panel);
  const std::int64_t stride = Int8Stride(a.depth);
  const std::int64_t count = TilesOf(a.rows), lines = next == nullptr ? 0 : Int8PanelBytes(a.depth) / Lines::kBytes;
  ForTiles(a.rows, [&](std::int64_t tile, std::int64_t row, std::int64_t rows) {
    const std::int64_t first = lines * tile / count, last = lines * (tile + 1) / count;
    tiles[static_cast<std::size_t>(rows - 1)](a.values + row * stride, stride, stride / kInt8Quad, b, a.scales + row,
                                              c.Rows(row, rows), epilogue.Rows(row, rows), next + first * Lines::kBytes,
                                              last - first);
  });
}

// Asks for the rows of c, and of the matrix that the epilogue adds.
void AskForRows(LineList& ask, const Matrix<float>& c, const FloatEpilogue& epilogue) {
  for (std::int64_t row = 0; row < c.rows; ++row) ask.AddRow(c.row(row), c.columns);
  if (epilogue.added.data == nullptr) return;
  for (std::int64_t row = 0; row < c.rows; ++row) ask.AddRow(epilogue.added.row(row), c.columns);
}

HEADLIGHT_VNNI inline __mmask16 FirstLanes(std::int64_t count) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(count, 0, 16)) - 1);
}

// The epilogue of 16 columns from `column`, of which the columns in `live` are active.
struct Lanes {
  HEADLIGHT_VNNI Lanes(const PanelView& b, const FloatEpilogue& its, const Matrix<float>& c, std::int64_t first_column)
      : epilogue(its),
        column(first_column),
        live(FirstLanes(c.columns - first_column)),
        scales(_mm512_loadu_ps(b.scales + first_column)),
        biases(its.bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(live, its.bias + first_column)) {}

  // Applies FinishRow to these columns of a row of c.
  HEADLIGHT_VNNI __attribute__((always_inline)) inline void Finish(__m512i sums, float row_scale, Matrix<float> c,
                                                                   std::int64_t row) const {
    const __m512 scaled = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(live, sums), _mm512_set1_ps(row_scale));
    __m512 result = _mm512_fmadd_ps(scaled, scales, biases);
    if (epilogue.added.data != nullptr)
      result = _mm512_add_ps(result, _mm512_maskz_loadu_ps(live, epilogue.added.row(row) + column));
    if (epilogue.relu) {
      const __mmask16 negative = _mm512_cmp_ps_mask(result, _mm512_setzero_ps(), _CMP_LT_OQ);
      result = _mm512_mask_blend_ps(negative, result, _mm512_setzero_ps());
    }
    _mm512_mask_storeu_ps(c.row(row) + column, live, result);
  }

  const FloatEpilogue& epilogue;
  std::int64_t column;
  __mmask16 live;
  __m512 scales, biases;
};

// Computes a tile. Prefetches the rows of c, and `next_lines` cache lines at `next`.
template <int rows>
HEADLIGHT_VNNI void VnniTile(const std::uint8_t* a, std::int64_t a_stride, std::int64_t quads, const PanelView& b,
                             const float* row_scales, Matrix<float> c, const FloatEpilogue& epilogue,
                             const std::byte* next, std::int64_t next_lines) {
  constexpr int vectors = 4;  // vectors of 16 columns
  LineList ask;
  AskForRows(ask, c, epilogue);
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
    for (; values != until; values += kQuadRow, a += kInt8Quad, ahead += lines->apart) {
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
    const Lanes lanes(b, epilogue, c, 16 * v);
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row) lanes.Finish(sums[row][v], row_scales[row], c, row);
  }
}

void VnniProduct(const Int8Rows& a, const std::byte* panel, Matrix<float> c, const FloatEpilogue& epilogue,
                 const std::byte* next) {
  // The sums of six rows of four vectors leave 8 of 32 registers for the operands.
  static constexpr Tiles tiles = {VnniTile<1>, VnniTile<2>, VnniTile<3>, VnniTile<4>, VnniTile<5>, VnniTile<6>};
  ProductByTiles(tiles, a, panel, c, epilogue, next);
}

HEADLIGHT_VNNI void AmxProduct(const Int8Rows& a, const std::byte* panel, Matrix<float> c,
                               const FloatEpilogue& epilogue, const std::byte*) {
  const PanelView b(panel);
  const std::int64_t stride = Int8Stride(a.depth);
  ForAmxBlocks(a.rows, [&](std::int64_t row, std::int64_t rows) HEADLIGHT_VNNI {
    const std::int64_t width = AmxColumns(rows);
    for (std::int64_t begin = 0; begin < c.columns; begin += width) {
      alignas(64) std::int32_t sums[kAmxRows * AmxColumns(kAmxRows)];
      AmxMultiplyInt8({.a = a.values + row * stride,
                       .row_stride = stride,
                       .rows = rows,
                       .units = stride / kInt8Quad,
                       .b = b.values + begin * kInt8Quad,
                       .to = sums,
                       .to_stride = width * std::ptrdiff_t{sizeof(std::int32_t)}});
      for (std::int64_t column = begin; column < std::min(begin + width, c.columns); column += 16) {
        const Lanes lanes(b, epilogue, c, column);
        for (std::int64_t i = row; i < row + rows; ++i)
          lanes.Finish(_mm512_load_si512(sums + (i - row) * width + column - begin), a.scales[i], c, i);
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
const Lines* PrefetchesOf(LineList& ask, const std::uint8_t* a, std::int64_t quads, Matrix<float> c,
                          const FloatEpilogue& epilogue, std::int64_t begin, std::int64_t columns,
                          const std::byte* next, std::int64_t next_lines) {
  AskForRows(ask, c.Columns(begin, columns), epilogue.Columns(begin, columns));
  const std::int64_t first = next_lines * begin / c.columns, last = next_lines * (begin + columns) / c.columns;
  ask.Add(next + first * Lines::kBytes, last - first);
  return ask.Finish(a, quads);
}

// Applies FinishRow to the rows of a tile.
template <int rows, int vectors>
HEADLIGHT_AVX2 inline void StoreTile(const __m256i (&sums)[rows][vectors], const float* row_scales,
                                     const float* column_scales, const FloatEpilogue& epilogue, Matrix<float> c) {
  if (c.columns == vectors * 8) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      const __m256 scales = _mm256_loadu_ps(column_scales + v * 8);
      const __m256 biases = epilogue.bias == nullptr ? _mm256_setzero_ps() : _mm256_loadu_ps(epilogue.bias + v * 8);
#pragma GCC unroll 8
      for (int row = 0; row < rows; ++row) {
        const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(sums[row][v]), _mm256_set1_ps(row_scales[row]));
        __m256 result = _mm256_fmadd_ps(scaled, scales, biases);
        if (epilogue.added.data != nullptr)
          result = _mm256_add_ps(result, _mm256_loadu_ps(epilogue.added.row(row) + v * 8));
        if (epilogue.relu) result = _mm256_andnot_ps(_mm256_cmp_ps(result, _mm256_setzero_ps(), _CMP_LT_OQ), result);
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
    FinishRow(all, row_scales[row], column_scales, epilogue, c, row);
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
                             const float* row_scales, Matrix<float> c, const FloatEpilogue& epilogue,
                             const std::byte* next, std::int64_t next_lines) {
  constexpr int vectors = rows == 1 ? 8 : rows == 2 ? 4 : 2;  // vectors of 8 columns
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::int64_t begin = 0; begin < c.columns; begin += vectors * 8) {
    const std::int64_t columns = std::min<std::int64_t>(vectors * 8, c.columns - begin);
    LineList ask;
    const Lines* lines = PrefetchesOf(ask, a, quads, c, epilogue, begin, columns, next, next_lines);
    __m256i sums[rows][vectors];
#pragma GCC unroll 8
    for (auto& row : sums)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v)
        row[v] = _mm256_sub_epi32(_mm256_setzero_si256(), LoadBytes(b.negative + begin + v * 8));
    const std::int8_t* values = b.values + begin * kInt8Quad;
    const std::uint8_t* left = a;
    for (const std::int8_t* const end = values + quads * kQuadRow; values != end; ++lines) {
      const char* ahead = lines->first;
      const std::int8_t* const until = values + std::min(end - values, lines->count * kQuadRow);
      for (; values != until; values += kQuadRow, left += kInt8Quad, ahead += lines->apart) {
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
    StoreTile(sums, row_scales, b.scales + begin, epilogue.Columns(begin, columns), c.Columns(begin, columns));
  }
}

void Avx2Product(const Int8Rows& a, const std::byte* panel, Matrix<float> c, const FloatEpilogue& epilogue,
                 const std::byte* next) {
  static constexpr Tiles tiles = {Avx2Tile<1>, Avx2Tile<2>, Avx2Tile<3>, Avx2Tile<4>, Avx2Tile<5>, Avx2Tile<6>};
  ProductByTiles(tiles, a, panel, c, epilogue, next);
}

// Computes the results of Avx2Tile with AVX-VNNI's instruction, which does not saturate and requires unsigned left-hand
// values.
template <int rows>
HEADLIGHT_AVX_VNNI void AvxVnniTile(const std::uint8_t* a, std::int64_t a_stride, std::int64_t quads,
                                    const PanelView& b, const float* row_scales, Matrix<float> c,
                                    const FloatEpilogue& epilogue, const std::byte* next, std::int64_t next_lines) {
  constexpr int vectors = rows == 1 ? 8 : rows <= 3 ? 4 : 2;  // vectors of 8 columns
  for (std::int64_t begin = 0; begin < c.columns; begin += vectors * 8) {
    const std::int64_t columns = std::min<std::int64_t>(vectors * 8, c.columns - begin);
    LineList ask;
    const Lines* lines = PrefetchesOf(ask, a, quads, c, epilogue, begin, columns, next, next_lines);
    __m256i sums[rows][vectors];
#pragma GCC unroll 8
    for (auto& row : sums)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v)
        row[v] = _mm256_sub_epi32(_mm256_setzero_si256(), LoadBytes(b.offsets + begin + v * 8));
    const std::int8_t* values = b.values + begin * kInt8Quad;
    const std::uint8_t* left = a;
    for (const std::int8_t* const end = values + quads * kQuadRow; values != end; ++lines) {
      const char* ahead = lines->first;
      const std::int8_t* const until = values + std::min(end - values, lines->count * kQuadRow);
      for (; values != until; values += kQuadRow, left += kInt8Quad, ahead += lines->apart) {
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
    StoreTile(sums, row_scales, b.scales + begin, epilogue.Columns(begin, columns), c.Columns(begin, columns));
  }
}

void AvxVnniProduct(const Int8Rows& a, const std::byte* panel, Matrix<float> c, const FloatEpilogue& epilogue,
                    const std::byte* next) {
  static constexpr Tiles tiles = {AvxVnniTile<1>, AvxVnniTile<2>, AvxVnniTile<3>,
                                  AvxVnniTile<4>, AvxVnniTile<5>, AvxVnniTile<6>};
  ProductByTiles(tiles, a, panel, c, epilogue, next);
}

#endif

}  // namespace

std::int64_t Int8PanelBytes(std::int64_t depth) { return kHeader + Int8Stride(depth) * kPanelColumns; }

void PackInt8Column(std::byte* panel, std::int64_t depth, std::int64_t column, const std::int8_t* values, float scale) {
  std::int32_t sum = 0, negative = 0;
  auto* to = reinterpret_cast<std::int8_t*>(panel + kHeader) + column * kInt8Quad;
  for (std::int64_t k = 0; k < Int8Stride(depth); ++k) {
    const std::int8_t value = k < depth ? values[k] : std::int8_t{0};
    to[k / kInt8Quad * kQuadRow + k % kInt8Quad] = value;
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
  const std::int8_t* from = b.values + column * kInt8Quad;
  for (std::int64_t k = 0; k < depth; ++k) {
    const std::int8_t quantized = from[k / kInt8Quad * kQuadRow + k % kInt8Quad];
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
