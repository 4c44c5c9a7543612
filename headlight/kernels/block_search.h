// Searches for the scales and codes of a block with the smallest error.
#pragma once

#include "headlight/base/gguf.h"
#include "headlight/kernels/blocks.h"

namespace headlight::kernels {

/// Returns a block of the type with a small weighted error, which is the sum over i of
///   importance[i] * (numbers[i] - number i of the block)^2.
/// `numbers` has the length of a run of the type's layout. Its largest absolute value is 1, or all elements are 0. The
/// original elements are `unit` times `numbers`. The block's scale and min are bounded by the largest half-precision
/// number. All items of `importance` are positive.
Block SearchBlock(GgufType type, const float* numbers, const float* importance, float unit);

}  // namespace headlight::kernels
