// The left-hand side of products with block types (kernels/block_product.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "headlight/base/matrix.h"

namespace headlight::kernels {

inline constexpr std::int64_t kBlockRun = 32;  ///< number of left-hand values that share a scale
inline constexpr std::int64_t kSumRun = 16;    ///< number of left-hand values that share a sum

/// Rows of the left-hand side: x = scale * value. The depth is a multiple of kBlockRun.
struct BlockRows {
  const std::int8_t* values = nullptr;  ///< [rows, depth]
  const std::int32_t* sums = nullptr;   ///< [rows, depth / kSumRun], sums of the values
  const float* scales = nullptr;        ///< [rows, depth / kBlockRun]
  std::int64_t rows = 0, depth = 0;
};
/// Computes c = a * panel + bias for the columns of one panel, and applies ReLU if `relu` is true. `bias` may be null.
using BlockProduct = void (*)(const BlockRows& a, const std::byte* panel, Matrix<float> c, const float* bias,
                              bool relu);

}  // namespace headlight::kernels
