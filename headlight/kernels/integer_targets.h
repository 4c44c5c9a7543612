// The instruction sets of integer products. Highway 1.0 has no dot product of four pairs of bytes.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>

#define HEADLIGHT_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#define HEADLIGHT_AVX_VNNI __attribute__((target("avxvnni,avx2,fma")))
#define HEADLIGHT_AVX2 __attribute__((target("avx2,fma")))
#endif
