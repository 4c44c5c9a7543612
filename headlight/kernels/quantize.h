// Quantizes values to the types of GGUF.
#pragma once

#include <cstddef>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/gguf.h"

namespace headlight::kernels {

/// Quantizes values to a type, in whole blocks. The length of `to` is given by InfoOf(type). Q8_0 is bit-identical to
/// llama.cpp. Without importance, Q4_0, Q4_1, Q5_0 and Q5_1 are bit-identical to llama.cpp, too. For the other block
/// types, a search finds codes with a small
///   sum over i of importance[i] * (numbers[i] - dequantized[i])^2.
/// The importance of each value is finite and at least 0; `importance` is empty if all are equal. Returns false if a
/// value is not finite, or too large for F16 or for the half-precision scales of the blocks.
HEADLIGHT_API bool Quantize(GgufType type, std::span<const float> numbers, std::span<const float> importance,
                            std::byte* to);

}  // namespace headlight::kernels
