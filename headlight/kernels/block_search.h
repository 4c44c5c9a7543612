// The search for the scales and codes of a block that lose least.
#pragma once

#include "headlight/base/gguf.h"
#include "headlight/kernels/blocks.h"

namespace headlight::kernels {

/// A block of the type with a small sum over i of importance[i] * (numbers[i] - number i of the block)^2. `numbers` has
/// a run of the type's layout, with absolute values up to 1 of which one is 1; the block's scale and min are to be
/// multiplied by `unit`. Larger ones than the largest half are bounded. `importance` has positive items. The result is
/// the same for any number of threads.
Block SearchBlock(GgufType type, const float* numbers, const float* importance, float unit);

}  // namespace headlight::kernels
