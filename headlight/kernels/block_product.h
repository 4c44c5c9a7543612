// Products with a right-hand side in a block type of GGUF. The weights are exact: their codes are repacked, and their
// scales are copied from the file. The left-hand side is rounded to 8-bit integers, with a scale for every 32 elements.
// The sum of a group is exact in 32 bits. The groups' sums are added in float in ascending order. The result has the
// same bits on every processor and for any number of rows and threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/block_rows.h"
#include "headlight/kernels/blocks.h"

namespace headlight::kernels {

/// Returns the size in bytes of a panel (kernels/panels.h) of 64 columns. The depth must be a multiple of the type's
/// run.
HEADLIGHT_API std::int64_t BlockPanelBytes(GgufType type, std::int64_t depth);

/// Packs at most 64 columns, given the bytes of each column in the file. If there are fewer than 64, the caller must
/// fill the panel with zeros first.
HEADLIGHT_API void PackBlockPanel(GgufType type, std::int64_t depth, std::span<const std::byte* const> columns,
                                  std::byte* panel);

/// Dequantizes a packed column to the same values as Dequantize.
HEADLIGHT_API void UnpackBlockColumn(GgufType type, std::int64_t depth, const std::byte* panel, std::int64_t column,
                                     float* numbers);

/// Rounds rows to 8-bit integers. The scale of a run with a non-finite element is NaN.
HEADLIGHT_API void QuantizeBlockRows(Matrix<const float> x, std::int8_t* values, std::int32_t* sums, float* scales);

/// An implementation that this processor can run. BlockPaths returns all of them, fastest first: AVX-512 with VNNI,
/// AVX-VNNI, AVX2, Highway, plain C++.
struct BlockPath {
  const char* name;
  BlockProduct (*product)(GgufType type);
};
HEADLIGHT_API const std::vector<BlockPath>& BlockPaths();

}  // namespace headlight::kernels
