// Products of int8 matrices. Sums are exact in 32 bits, so the integers and the resulting floats are the same on every
// processor and for any number of rows and threads.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/panel_product.h"

namespace headlight::kernels {

/// Writes round(x / scale), which is in [-127, 127], and returns the scale, max |x| / 127. The scale is 0 if the
/// maximum is below 1e-30. If an element is not finite, the scale is NaN and the integers are 0.
HEADLIGHT_API float QuantizeRow(const float* x, std::int64_t count, std::int8_t* quantized);

/// A panel (kernels/panel_product.h) of int8. The panel has the scales of its columns, 128 times the sum of each
/// column, and the sum of its negative integers. The integers follow, with four integers of a column adjacent.
inline constexpr std::int64_t kInt8MostDepth = 65536;  ///< the largest depth whose sums fit into 32 bits
std::int64_t Int8PanelBytes(std::int64_t depth);
void PackInt8Column(std::byte* panel, std::int64_t depth, std::int64_t column, const std::int8_t* values, float scale);
void UnpackInt8Column(const std::byte* panel, std::int64_t depth, std::int64_t column, float* values);

/// Rows of a left-hand side: x = scale * (value - zero). Each row has Int8Stride(depth) values. The product defines
/// `zero`: 128, or 0 for signed values.
struct Int8Rows {
  const std::uint8_t* values = nullptr;
  const float* scales = nullptr;
  std::int64_t rows = 0, depth = 0;
};
std::int64_t Int8Stride(std::int64_t depth);
void QuantizeRows(Matrix<const float> x, std::uint8_t zero, std::uint8_t* values, float* scales);

/// Computes c = a * panel + bias for the columns of one panel, and applies ReLU if `relu` is true. May prefetch the
/// panel `next`, unless it is null.
using Int8Product = void (*)(const Int8Rows& a, const std::byte* panel, Matrix<float> c, const float* bias, bool relu,
                             const std::byte* next);

/// An implementation that this processor can run. Int8Paths returns all of them, fastest first: AMX, AVX-512 with VNNI,
/// AVX-VNNI (256 bits), AVX2, plain C++.
struct Int8Path {
  const char* name;
  Int8Product product;
  std::uint8_t zero;            ///< the `zero` of the rows that this product multiplies
  std::int64_t least_rows = 1;  ///< for fewer rows, the next path is faster
};
HEADLIGHT_API const std::vector<Int8Path>& Int8Paths();
const Int8Path& Int8PathFor(std::int64_t rows);  ///< the fastest path for this number of rows

}  // namespace headlight::kernels
