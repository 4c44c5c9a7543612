// Selects the instruction sets that every kernel is compiled for. Include this file before Highway. On x86-64, AVX2 and
// AVX-512 are chosen at run time, with one fallback. Other targets would cost compile time, but only help machines from
// before 2013. Arm uses NEON. SVE's vector length is unknown at compile time, so arrays of vectors could not be kept in
// registers.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
