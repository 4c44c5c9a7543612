// The search for the scales and codes of a block that lose least.
#pragma once

#include "headlight/base/gguf.h"
#include "headlight/kernels/blocks.h"

namespace headlight::kernels {

/// A block of the type with a small weighted error: the sum over i of
///   importance[i] * (numbers[i] - number i of the block)^2.
/// There are as many numbers as in a run of the type's layout. The largest absolute value is 1, or all are 0. The
/// numbers of the file are `unit` times these. Its scale and min are bounded by the largest half. `importance` has
/// positive items.
Block SearchBlock(GgufType type, const float* numbers, const float* importance, float unit);

}  // namespace headlight::kernels
