// Products of int8 matrices. Sums are exact in 32 bits, so the integers and the resulting floats are the same on every
// processor and for any number of rows and threads.
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/int8_rows.h"
#include "headlight/kernels/panel_product.h"

namespace headlight::kernels {

/// A panel (kernels/panel_product.h) of int8. The panel has the scales of its columns, 128 times the sum of each
/// column, and the sum of its negative integers. The integers follow, with four integers of a column adjacent.
inline constexpr std::int64_t kInt8MostDepth = 65536;  ///< the largest depth whose sums fit into 32 bits
std::int64_t Int8PanelBytes(std::int64_t depth);
void PackInt8Column(std::byte* panel, std::int64_t depth, std::int64_t column, const std::int8_t* values, float scale);
void UnpackInt8Column(const std::byte* panel, std::int64_t depth, std::int64_t column, float* values);

/// Computes c = a * panel for the columns of one panel, then adds the epilogue's bias and matrix, and applies its ReLU.
/// May prefetch the panel `next`, unless it is null.
using Int8Product = void (*)(const Int8Rows& a, const std::byte* panel, Matrix<float> c,
                             const Epilogue<float>& epilogue, const std::byte* next);

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
