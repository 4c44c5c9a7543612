// Include before Highway. The instruction sets that every kernel is compiled for: AVX2 and AVX-512 on x86-64, chosen at
// run time, and one fallback. Others would cost compile time only for machines older than 2013. On Arm, NEON: the
// compiler does not know SVE's vector length, and so cannot keep an array of vectors in registers.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
