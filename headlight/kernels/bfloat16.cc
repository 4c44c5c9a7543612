#include "headlight/kernels/bfloat16.h"

#include <immintrin.h>

namespace headlight::kernels {

// Highway 1.0 knows no rounding to bfloat16, hence the instruction itself.
__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) void ToBfloat16(const float* from, std::int64_t count,
                                                                                std::uint16_t* to) {
  constexpr std::int64_t lanes = 16;
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_loadu_ps(from + i))));
  if (i == count) return;
  const auto rest = static_cast<__mmask16>((1U << (count - i)) - 1);
  _mm256_mask_storeu_epi16(to + i, rest,
                           reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(rest, from + i))));
}

bool CpuHasBfloat16() {
  static const bool has =
      __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return has;
}

}  // namespace headlight::kernels
