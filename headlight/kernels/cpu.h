// The instruction sets that kernels may use.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight::kernels {

/// Disables newer instruction sets than `newest`, as on a processor without them. "avx512" disables AMX, "avx-vnni"
/// also AVX-512, and "avx2" also AVX-VNNI. Returns false for other names. Must be called before any kernel.
HEADLIGHT_API bool LimitCpu(std::string_view newest);

HEADLIGHT_API bool MayUseAvx512();

/// True if the processor rounds to bfloat16 and multiplies it (AVX-512 BF16).
HEADLIGHT_API bool CpuHasBfloat16();

/// True if the processor has tile products of bfloat16 and int8 (AMX), and Linux allows this process to use them.
HEADLIGHT_API bool MayUseAmx();

/// True if the hand-written integer products may use AVX-512 with VNNI, AVX-VNNI, or AVX2 with FMA.
HEADLIGHT_API bool MayUseVnni();
HEADLIGHT_API bool MayUseAvxVnni();
HEADLIGHT_API bool CpuHasAvx2();

/// The usable instruction sets on which results depend: Highway's targets as a hexadecimal number, and names such as
/// "avx2".
HEADLIGHT_API std::string CpuFeatures();

}  // namespace headlight::kernels
