// Encodes the block types of GGUF (kernels/blocks.h).
#pragma once

#include <cstddef>

#include "headlight/base/gguf.h"
#include "headlight/kernels/blocks.h"

namespace headlight::kernels {

/// The limits of a block's fields in the file format of its type. Codes are from 0 to `codes` - 1.
struct BlockLimits {
  int codes = 16;
  int least_scale = 1, most_scale = 1, most_min = 1;  ///< bounds of the scales and minima
};
BlockLimits LimitsOf(GgufType type);

/// Writes a block as InfoOf(type).size bytes. This is the inverse of SplitBlock.
void JoinBlock(GgufType type, const Block& block, std::byte* to);

}  // namespace headlight::kernels
