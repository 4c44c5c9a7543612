// The instruction sets that kernels may use.
#pragma once

#include <string>

#include "headlight/base/export.h"

namespace headlight::kernels {

/// Disables Intel AMX, to measure a processor without it. Must be called before any kernel.
HEADLIGHT_API void UseNoAmx();

/// Disables instruction sets newer than AVX2, except AVX-VNNI if `but_avx_vnni`, to measure a processor without them.
/// Must be called before any kernel.
HEADLIGHT_API void UseNoMoreThanAvx2(bool but_avx_vnni = false);

HEADLIGHT_API bool MayUseAvx512();

/// True if the processor rounds to bfloat16 and multiplies it (AVX-512 BF16).
HEADLIGHT_API bool CpuHasBfloat16();

/// True if the processor has tile products of bfloat16 and int8 (AMX), and Linux allows this process to use them.
bool MayUseAmx();

/// True if the hand-written integer products may use AVX-512 with VNNI, AVX-VNNI, or AVX2 with FMA.
bool MayUseVnni();
bool MayUseAvxVnni();
bool CpuHasAvx2();

/// The usable instruction sets on which results depend: Highway's targets as a hexadecimal number, and names such as
/// "avx2".
HEADLIGHT_API std::string CpuFeatures();

}  // namespace headlight::kernels
