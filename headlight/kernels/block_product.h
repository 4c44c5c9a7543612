// Products with a right-hand side in a block type of GGUF, whose weights are exact: their codes are repacked, and their
// scales stay as they are in the file. The left-hand side is rounded to 8-bit integers with a scale for each 32
// numbers. Sums of a group are exact in 32 bits, and groups are added in floats in ascending order: the same floats on
// every processor, for any number of rows and threads.
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

/// The size of a panel (kernels/panels.h) of 64 columns. The depth is a multiple of the type's run.
HEADLIGHT_API std::int64_t BlockPanelBytes(GgufType type, std::int64_t depth);

/// Packs columns, at most 64, given the bytes of each in the file. A panel of fewer was filled with zeros.
HEADLIGHT_API void PackBlockPanel(GgufType type, std::int64_t depth, std::span<const std::byte* const> columns,
                                  std::byte* panel);

/// Writes the numbers of a packed column as Dequantize does.
HEADLIGHT_API void UnpackBlockColumn(GgufType type, std::int64_t depth, const std::byte* panel, std::int64_t column,
                                     float* numbers);

/// Rounds rows. A run with a number that is not finite has a scale of NaN.
HEADLIGHT_API void QuantizeBlockRows(Matrix<const float> x, std::int8_t* values, std::int32_t* sums, float* scales);

/// The implementations that this processor can run, fastest first: AVX-512 with VNNI, AVX-VNNI, AVX2,
/// Highway, plain C++.
struct BlockPath {
  const char* name;
  BlockProduct (*product)(GgufType type);
};
HEADLIGHT_API const std::vector<BlockPath>& BlockPaths();

}  // namespace headlight::kernels
