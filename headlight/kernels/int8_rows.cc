#include "headlight/kernels/int8_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "headlight/kernels/cpu.h"
#include "headlight/kernels/integer_targets.h"
#include "headlight/kernels/rows.h"

namespace headlight::kernels {
namespace {

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

// The two steps of a quantization for one instruction set.
struct Quantizer {
  // Returns the bits of the largest |x|. Their order as integers is that of the magnitudes, with NaN last.
  std::int32_t (*largest_bits)(const float* x, std::int64_t count);
  // Writes round(x * inverse) + zero. `inverse` is not 0.
  void (*quantize)(const float* x, std::int64_t count, float inverse, std::uint8_t zero, std::uint8_t* quantized);
};

// These loops use bit operations if float operations would prevent vectorization.
[[gnu::always_inline]] inline std::int32_t LargestBits(const float* x, std::int64_t count) {
  std::int32_t largest_bits = 0;
  for (std::int64_t i = 0; i < count; ++i)
    largest_bits = std::max(largest_bits, std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
  return largest_bits;
}

[[gnu::always_inline]] inline void Quantize(const float* x, std::int64_t count, float inverse, std::uint8_t zero,
                                            std::uint8_t* quantized) {
  constexpr float rounder = 12582912;  // 1.5 * 2^23: adding it leaves the rounded integer in the low bits
  for (std::int64_t i = 0; i < count; ++i)
    quantized[i] = static_cast<std::uint8_t>(std::bit_cast<std::int32_t>(x[i] * inverse + rounder) -
                                             std::bit_cast<std::int32_t>(rounder) + zero);
}

std::int32_t PlainLargestBits(const float* x, std::int64_t count) { return LargestBits(x, count); }
void PlainQuantize(const float* x, std::int64_t count, float inverse, std::uint8_t zero, std::uint8_t* quantized) {
  Quantize(x, count, inverse, zero, quantized);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::int32_t Avx2LargestBits(const float* x, std::int64_t count) {
  return LargestBits(x, count);
}
__attribute__((target("avx2"))) void Avx2Quantize(const float* x, std::int64_t count, float inverse, std::uint8_t zero,
                                                  std::uint8_t* quantized) {
  Quantize(x, count, inverse, zero, quantized);
}

// GCC 12 warns about the undefined operand in intrinsics without a mask, so all lanes are named.
constexpr __mmask16 kAllLanes = 0xffff;

HEADLIGHT_VNNI inline __mmask16 LanesOf(std::int64_t count) {
  return static_cast<__mmask16>((1U << std::min<std::int64_t>(count, 16)) - 1);
}

HEADLIGHT_VNNI std::int32_t Avx512LargestBits(const float* x, std::int64_t count) {
  const __m512i size = _mm512_set1_epi32(0x7fffffff);
  __m512i largest = _mm512_setzero_si512();
  for (std::int64_t i = 0; i < count; i += 16) {
    const __mmask16 live = LanesOf(count - i);
    const __m512i sizes = _mm512_maskz_and_epi32(live, size, _mm512_maskz_loadu_epi32(live, x + i));
    largest = _mm512_mask_max_epi32(largest, live, largest, sizes);
  }
  alignas(64) std::array<std::int32_t, 16> of_lanes;
  _mm512_store_si512(of_lanes.data(), largest);
  return *std::ranges::max_element(of_lanes);
}

HEADLIGHT_VNNI inline __m512i Rounded(__mmask16 live, const float* x, __m512 factor) {
  return _mm512_maskz_cvtps_epi32(live, _mm512_mul_ps(_mm512_maskz_loadu_ps(live, x), factor));
}

HEADLIGHT_VNNI void Avx512Quantize(const float* x, std::int64_t count, float inverse, std::uint8_t zero,
                                   std::uint8_t* quantized) {
  const __m512 factor = _mm512_set1_ps(inverse);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  std::int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    __m512i four[4];
    for (int v = 0; v < 4; ++v) four[v] = Rounded(kAllLanes, x + i + 16 * v, factor);
    // Packing interleaves the quarters of the four vectors.
    const __m512i packed =
        _mm512_packs_epi16(_mm512_packs_epi32(four[0], four[1]), _mm512_packs_epi32(four[2], four[3]));
    const __m512i values = _mm512_maskz_permutexvar_epi32(kAllLanes, order, packed);
    _mm512_storeu_si512(quantized + i, _mm512_add_epi8(values, _mm512_set1_epi8(static_cast<char>(zero))));
  }
  for (; i < count; i += 16) {
    const __mmask16 live = LanesOf(count - i);
    const __m128i bytes = _mm512_maskz_cvtepi32_epi8(live, Rounded(live, x + i, factor));
    _mm_mask_storeu_epi8(quantized + i, live, _mm_add_epi8(bytes, _mm_set1_epi8(static_cast<char>(zero))));
  }
}
#endif

const Quantizer& BestQuantizer() {
  static const Quantizer best = []() -> Quantizer {
#if defined(__x86_64__)
    if (MayUseVnni()) return {Avx512LargestBits, Avx512Quantize};
    if (CpuHasAvx2()) return {Avx2LargestBits, Avx2Quantize};
#endif
    return {PlainLargestBits, PlainQuantize};
  }();
  return best;
}

// Quantizes a row to integers plus `zero`, and returns the scale.
float QuantizeTo(const Quantizer& quantizer, const float* x, std::int64_t count, std::uint8_t zero,
                 std::uint8_t* quantized) {
  const QuantizedBy by = QuantizedFor(quantizer.largest_bits(x, count));
  if (by.inverse == 0)
    std::fill_n(quantized, count, zero);
  else
    quantizer.quantize(x, count, by.inverse, zero, quantized);
  return by.scale;
}

}  // namespace

float QuantizeRow(const float* x, std::int64_t count, std::int8_t* quantized) {
  return QuantizeTo(BestQuantizer(), x, count, 0, reinterpret_cast<std::uint8_t*>(quantized));
}

std::int64_t Int8Stride(std::int64_t depth) { return (depth + kInt8Quad - 1) / kInt8Quad * kInt8Quad; }

void QuantizeRows(Matrix<const float> x, std::uint8_t zero, std::uint8_t* values, float* scales) {
  const Quantizer& quantizer = BestQuantizer();
  const std::int64_t stride = Int8Stride(x.columns);
  ForRowChunks(x.rows, x.columns, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t row = first; row < first + rows; ++row) {
      std::uint8_t* to = values + row * stride;
      scales[row] = QuantizeTo(quantizer, x.row(row), x.columns, zero, to);
      std::fill(to + x.columns, to + stride, zero);
    }
  });
}

Int8Taps::Int8Taps(const Unfolded<float>& taps) : taps_(&taps) {
  struct OfCells;
  struct OfRows;
  const Matrix<const float>& maps = taps.maps();
  auto* const of_cells = KeptScratch<OfCells, std::int32_t>(maps.rows);
  auto* const of_rows = KeptScratch<OfRows, std::int32_t>(taps.rows());
  const Quantizer& quantizer = BestQuantizer();
  ForRowChunks(maps.rows, maps.columns, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t row = first; row < first + rows; ++row)
      of_cells[row] = quantizer.largest_bits(maps.row(row), maps.columns);
  });
  taps.LargestOfTaps(of_cells, of_rows);
  magnitudes_ = of_rows;
}

void Int8Taps::Quantize(std::int64_t first_row, std::int64_t rows, std::uint8_t zero, std::uint8_t* values,
                        float* scales) const {
  struct Inverses;
  const Quantizer& quantizer = BestQuantizer();
  auto* const inverses = KeptScratch<Inverses, float>(rows);
  const std::int64_t depth = taps_->columns(), stride = Int8Stride(depth);
  for (std::int64_t row = 0; row < rows; ++row) {
    const QuantizedBy by = QuantizedFor(magnitudes_[first_row + row]);
    inverses[row] = by.inverse;
    scales[row] = by.scale;
    std::fill(values + row * stride + depth, values + (row + 1) * stride, zero);
  }
  taps_->ForRuns(first_row, rows, 0, depth,
                 [&](std::int64_t row, std::int64_t column, const float* elements, std::int64_t count) {
                   std::uint8_t* const to = values + row * stride + column;
                   if (elements == nullptr || inverses[row] == 0)
                     std::fill_n(to, count, zero);
                   else
                     quantizer.quantize(elements, count, inverses[row], zero, to);
                 });
}

}  // namespace headlight::kernels
