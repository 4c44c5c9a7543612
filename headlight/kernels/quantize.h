// Quantizes numbers to the types of GGUF.
#pragma once

#include <cstddef>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/gguf.h"

namespace headlight::kernels {

/// Writes numbers, whole blocks, in a type; `to` has the bytes that InfoOf tells. Q8_0 and, without importance, Q4_0,
/// Q4_1, Q5_0 and Q5_1 are bit-equal to what llama.cpp's functions give. The others are searched for, to make
///   sum over i of importance[i] * (numbers[i] - dequantized[i])^2
/// small. The importance of each number is finite and at least 0; it is empty if all are equal. The result is false if
/// a number is not finite, or too large for F16 or for the half-precision scales of the blocks.
HEADLIGHT_API bool Quantize(GgufType type, std::span<const float> numbers, std::span<const float> importance,
                            std::byte* to);

}  // namespace headlight::kernels
