// The instruction sets that kernels may use.
#pragma once

#include <string>

#include "headlight/base/export.h"

namespace headlight::kernels {

// Disables Intel's AMX, to measure a processor without it. To be called before any kernel.
HEADLIGHT_API void UseNoAmx();

// Disables instruction sets newer than AVX2, or all of them but AVX-VNNI, to measure a processor without them. To be
// called before any kernel.
HEADLIGHT_API void UseNoMoreThanAvx2(bool but_avx_vnni = false);

HEADLIGHT_API bool MayUseAvx512();

// True where the processor rounds to bfloat16 and multiplies it (AVX-512 BF16).
HEADLIGHT_API bool CpuHasBfloat16();

// True where the processor multiplies bfloat16 and 8-bit integers by tiles (AMX), and Linux lets this process use them.
bool MayUseAmx();

// True where the hand-written integer products may use AVX-512 with VNNI, AVX-VNNI, or AVX2 with FMA.
bool MayUseVnni();
bool MayUseAvxVnni();
bool CpuHasAvx2();

// The instruction sets on which results depend, as far as they may be used: Highway's targets as a hexadecimal
// number, and names such as "avx2".
HEADLIGHT_API std::string CpuFeatures();

}  // namespace headlight::kernels
