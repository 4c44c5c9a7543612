// Which of the processor's instructions kernels may use.
#pragma once

#include "headlight/base/export.h"

namespace headlight::kernels {

// Leaves what came after AVX2 unused, to see how fast a processor without it would be. To be called before any kernel.
HEADLIGHT_API void UseNoMoreThanAvx2();

HEADLIGHT_API bool MayUseAvx512();

// What products of integers are written in by hand: AVX-512 with VNNI, if it may be used; AVX2 with FMA.
bool MayUseVnni();
bool CpuHasAvx2();

}  // namespace headlight::kernels
