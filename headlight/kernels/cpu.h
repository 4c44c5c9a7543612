// Functions that limit and query the instruction sets that kernels may use.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight::kernels {

/// Disables instruction sets that are newer than `newest`. "avx512" disables AMX, "avx-vnni" also AVX-512, and "avx2"
/// also AVX-VNNI. Returns false for other names. Must be called before any kernel.
HEADLIGHT_API bool LimitCpu(std::string_view newest);

HEADLIGHT_API bool MayUseAvx512();

/// Returns true if the processor rounds to bfloat16 and multiplies bfloat16 values (AVX-512 BF16).
HEADLIGHT_API bool CpuHasBfloat16();

/// Returns true if the processor has tile products of bfloat16 and int8 (AMX), and Linux allows this process to use
/// them.
HEADLIGHT_API bool MayUseAmx();

/// Return true if the hand-written integer products may use AVX-512 with VNNI, AVX-VNNI, or AVX2 with FMA,
/// respectively.
HEADLIGHT_API bool MayUseVnni();
HEADLIGHT_API bool MayUseAvxVnni();
HEADLIGHT_API bool CpuHasAvx2();

/// Returns the usable instruction sets on which results depend: Highway's targets as a hexadecimal number, and names
/// such as "avx2".
HEADLIGHT_API std::string CpuFeatures();

}  // namespace headlight::kernels
