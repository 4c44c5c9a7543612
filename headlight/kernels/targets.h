// Include before Highway: the instruction sets that every kernel is compiled for. AVX2 and AVX-512 on x86-64, chosen
// at run time, and one fallback; what lies between would cost compile time and serve machines older than 2013.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
