// bfloat16: a float32 without its last 16 bits, rounded to nearest, ties to even.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight::kernels {

// Whether the processor rounds to bfloat16 and multiplies it (AVX-512 BF16); without, nothing here may be called.
HEADLIGHT_API bool CpuHasBfloat16();

void ToBfloat16(const float* from, std::int64_t count, std::uint16_t* to);

// c += a^T b with both rounded, summed in float32 over the rows in an order that depends on the shape alone.
void GemmTransposedBfloat16(Matrix<const float> a, Matrix<const float> b, Matrix<float> c);

}  // namespace headlight::kernels
