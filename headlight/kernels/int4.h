// Products with a right-hand side of 4 bits a number: in groups of 32 along the depth, each number is one of 16 levels
// times the group's scale times the column's. The left-hand side is 8-bit integers, as in kernels/int8.h. A group's sum
// is exact in 32 bits, and the groups' sums are added in floats in ascending order: the same floats on every processor,
// for any number of rows and threads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/panel_product.h"

namespace headlight::kernels {

inline constexpr std::int64_t kInt4Group = 32;
constexpr std::int64_t Int4Groups(std::int64_t depth) { return (depth + kInt4Group - 1) / kInt4Group; }

// The level of each code. Weights are denser near 0, and so are the levels: 63 (0.7 u + 0.3 u^3), rounded, for u from
// -8/8 to 7/8. A group whose largest number in size is positive has a negative scale, so that it uses the longer,
// negative side of the levels. Relative squared error on normal numbers: these levels 0.0055, other shares of the cube
// 0.0056 to 0.0067, symmetric levels 0.0060 to 0.0064, uniform levels 0.0066.
inline constexpr std::array<std::int8_t, 16> kInt4Levels = {-63, -51, -41, -32, -24, -18, -11, -6,
                                                            0,   6,   11,  18,  24,  32,  41,  51};

// A column as it is stored: two codes per byte, the first in the low bits, filled up to whole groups; a scale for each
// group; and returns the column's scale: 0 where its largest size is below 1e-30, and NaN where an x is not finite
// (the scales of groups then are 0). A number is level * group scale * scale.
inline constexpr std::int64_t kInt4GroupBytes = kInt4Group / 2;
HEADLIGHT_API float QuantizeInt4(const float* x, std::int64_t count, std::uint8_t* codes, std::int8_t* group_scales);
HEADLIGHT_API void DequantizeInt4(const std::uint8_t* codes, const std::int8_t* group_scales, float scale,
                                  std::int64_t count, float* x);

// A panel (kernels/panel_product.h): the scales of its columns, and for each group those of the columns in this group
// and the codes, four of a column side by side in the low bits and the next four in the high bits.
std::int64_t Int4PanelBytes(std::int64_t depth);
void PackInt4Column(std::byte* panel, std::int64_t depth, std::int64_t column, const std::uint8_t* codes,
                    const std::int8_t* group_scales, float scale);
void UnpackInt4Column(const std::byte* panel, std::int64_t depth, std::int64_t column, float* values);

// Rows of a left-hand side: x = scale * value, each filled up to whole groups.
struct Int4Rows {
  const std::int8_t* values = nullptr;
  const std::int32_t* offsets = nullptr;  // of each group: the correction of its sum, since levels are stored plus 64
  const float* scales = nullptr;
  std::int64_t rows = 0, depth = 0;
};
void QuantizeInt4Rows(Matrix<const float> x, std::int8_t* values, std::int32_t* offsets, float* scales);

// c = a * panel + bias, for the columns of one panel, with relu if requested.
using Int4Product = void (*)(const Int4Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu);

// The implementations that this processor can run, fastest first: AVX-512 with VNNI, AVX2, plain C++.
struct Int4Path {
  const char* name;
  Int4Product product;
};
HEADLIGHT_API const std::vector<Int4Path>& Int4Paths();

}  // namespace headlight::kernels
