// Products with an int4 right-hand side. Elements are in groups of 32 along the depth. An element is one of 16 levels,
// times the scale of its group, times the scale of its column. The left-hand side is int8, as in kernels/int8.h. The
// sum of a group is exact in 32 bits. The groups' sums are added in float in ascending order. The result has the same
// bits on every processor and for any number of rows and threads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/panel_product.h"

namespace headlight::kernels {

/// The number of values in a column that share a group scale.
inline constexpr std::int64_t kInt4Group = 32;
constexpr std::int64_t Int4Groups(std::int64_t depth) { return (depth + kInt4Group - 1) / kInt4Group; }

/// The level of each code: 63 (0.7 u + 0.3 u^3), rounded, for u from -8/8 to 7/8. Levels are denser near 0, because
/// most weights are near 0. If the element with the largest magnitude in a group is positive, the group's scale is
/// negative. That element then uses the negative side, which is longer. The relative squared error on normally
/// distributed values is 0.0055. It is 0.0056 to 0.0067 for other weights of the cubic term, 0.0060 to 0.0064 for
/// symmetric levels, and 0.0066 for uniform levels.
inline constexpr std::array<std::int8_t, 16> kInt4Levels = {-63, -51, -41, -32, -24, -18, -11, -6,
                                                            0,   6,   11,  18,  24,  32,  41,  51};

/// Converts a column to int4 and back. Two codes share a byte, with the first in the low bits. Codes are padded to
/// whole groups, and each group has a scale. QuantizeInt4 returns the column's scale. This scale is 0 if the largest
/// magnitude is below 1e-30. If an element is not finite, this scale is NaN and the group scales are 0. An element is
/// level * group scale * scale.
inline constexpr std::int64_t kInt4GroupBytes = kInt4Group / 2;
HEADLIGHT_API float QuantizeInt4(const float* x, std::int64_t count, std::uint8_t* codes, std::int8_t* group_scales);
HEADLIGHT_API void DequantizeInt4(const std::uint8_t* codes, const std::int8_t* group_scales, float scale,
                                  std::int64_t count, float* x);

/// A panel (kernels/panel_product.h) of int4. The panel has the scales of its columns, then for each group the columns'
/// group scales and codes. Four codes of a column are adjacent in the low bits, and the next four codes are in the high
/// bits.
std::int64_t Int4PanelBytes(std::int64_t depth);
void PackInt4Column(std::byte* panel, std::int64_t depth, std::int64_t column, const std::uint8_t* codes,
                    const std::int8_t* group_scales, float scale);
void UnpackInt4Column(const std::byte* panel, std::int64_t depth, std::int64_t column, float* values);

/// Rows of a left-hand side: x = scale * value. Each row is padded to whole groups.
struct Int4Rows {
  const std::int8_t* values = nullptr;
  const std::int32_t* offsets = nullptr;  ///< correction of each group's sum, because 64 is added to stored levels
  const float* scales = nullptr;
  std::int64_t rows = 0, depth = 0;
};
void QuantizeInt4Rows(Matrix<const float> x, std::int8_t* values, std::int32_t* offsets, float* scales);

/// Computes c = a * panel + bias for the columns of one panel, and applies ReLU if `relu` is true.
using Int4Product = void (*)(const Int4Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu);

/// An implementation that this processor can run. Int4Paths returns all of them, fastest first: AVX-512 with VNNI,
/// AVX2, plain C++.
struct Int4Path {
  const char* name;
  Int4Product product;
};
HEADLIGHT_API const std::vector<Int4Path>& Int4Paths();

}  // namespace headlight::kernels
