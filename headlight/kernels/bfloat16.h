// bfloat16: a float32 without its last 16 bits, rounded to nearest, ties to even.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"

namespace headlight::kernels {

// Whether the processor rounds to bfloat16 and multiplies it (AVX-512 BF16); without, nothing here may be called.
HEADLIGHT_API bool CpuHasBfloat16();

void ToBfloat16(const float* from, std::int64_t count, std::uint16_t* to);

}  // namespace headlight::kernels
