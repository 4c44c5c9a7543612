// Quantizes numbers to the types of GGUF.
#pragma once

#include <cstddef>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/gguf.h"

namespace headlight::kernels {

/// Writes numbers, whole blocks, in a type; `to` has the bytes that InfoOf tells. Q8_0 and, without importance, Q4_0,
/// Q4_1, Q5_0 and Q5_1 are bit-equal to what llama.cpp's functions give. The others have a small sum of
///   importance[i] * (numbers[i] - dequantized[i])^2,
/// which is searched for. `importance`, of finite numbers from 0, has one for each number, or is empty if all are
/// equal. False if a number is not finite, or too large for F16 or for the half-precision scales of the blocks.
HEADLIGHT_API bool Quantize(GgufType type, std::span<const float> numbers, std::span<const float> importance,
                            std::byte* to);

}  // namespace headlight::kernels
