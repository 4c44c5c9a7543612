// Include before Highway: the instruction sets that every kernel is compiled for. AVX2 and AVX-512 on x86-64, chosen
// at run time, and one fallback; the sets between would cost compile time for machines older than 2013. On Arm,
// NEON: the length of SVE's vectors is not known to the compiler, which then cannot keep an array of them in registers.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
