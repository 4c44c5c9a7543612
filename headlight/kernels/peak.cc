#include "headlight/kernels/peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "headlight/base/parallel.h"
#include "headlight/kernels/amx.h"
#include "headlight/kernels/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headlight::kernels {
namespace {

#if defined(__x86_64__)
constexpr std::int64_t kRounds = 100'000;
// The number of independent sums, which hide each other's latency. With more sums, g++ 12 stores them in memory.
constexpr std::size_t kSums512 = 16, kSums256 = 10;

// Defines a loop of one multiplying instruction, or of a short sequence, over sums in registers. The assembler
// statements without instructions keep the compiler from merging equal sums and from moving products out of the loop.
#define HEADLIGHT_PEAK(NAME, TARGET, VECTOR, SUMS, FACTOR, MULTIPLY)                                            \
  __attribute__((target(TARGET))) void NAME() {                                                                 \
    VECTOR sums[SUMS] = {};                                                                                     \
    for (VECTOR & sum : sums) asm volatile("" : "+v"(sum));                                                     \
    VECTOR factor = reinterpret_cast<VECTOR>(FACTOR);                                                           \
    for (std::int64_t round = 0; round < kRounds; ++round) _Pragma("GCC unroll 16") for (VECTOR & sum : sums) { \
        asm("" : "+v"(factor));                                                                                 \
        sum = MULTIPLY;                                                                                         \
      }                                                                                                         \
    for (VECTOR & sum : sums) asm volatile("" : : "v"(sum));                                                    \
  }
HEADLIGHT_PEAK(Floats512, "avx512f", __m512, kSums512, _mm512_set1_ps(0.5F), _mm512_fmadd_ps(sum, factor, factor))
HEADLIGHT_PEAK(Floats256, "avx2,fma", __m256, kSums256, _mm256_set1_ps(0.5F), _mm256_fmadd_ps(sum, factor, factor))
HEADLIGHT_PEAK(Bfloat16, "avx512f,avx512bf16", __m512, kSums512, _mm512_set1_epi32(0x3f003f00),
               _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(factor), reinterpret_cast<__m512bh>(factor)))
HEADLIGHT_PEAK(Bytes512, "avx512f,avx512vnni", __m512i, kSums512, _mm512_set1_epi32(0x01010101),
               _mm512_dpbusd_epi32(sum, factor, factor))
HEADLIGHT_PEAK(Bytes256, "avxvnni,avx2", __m256i, kSums256, _mm256_set1_epi32(0x01010101),
               _mm256_dpbusd_avx_epi32(sum, factor, factor))
// If VNNI is missing, three instructions replace one VNNI instruction. The vector of ones in the second instruction is
// replaced by `factor`, because its value does not matter.
HEADLIGHT_PEAK(BytesByPairs, "avx2", __m256i, kSums256, _mm256_set1_epi32(0x01010101),
               _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(factor, factor), factor)))

// Defines the loop for AMX: products of tiles of zeros.
#define HEADLIGHT_AMX_PEAK(NAME, TARGET, MULTIPLY)           \
  __attribute__((target("amx-tile," TARGET))) void NAME() {  \
    AmxConfigure(kAmxRows);                                  \
    for (std::int64_t round = 0; round < kRounds; ++round) { \
      MULTIPLY(0, 4, 6);                                     \
      MULTIPLY(1, 4, 7);                                     \
      MULTIPLY(2, 5, 6);                                     \
      MULTIPLY(3, 5, 7);                                     \
    }                                                        \
    AmxConfigure(0);                                         \
  }
HEADLIGHT_AMX_PEAK(TilesOfBfloat16, "amx-bf16", _tile_dpbf16ps)
HEADLIGHT_AMX_PEAK(TilesOfBytes, "amx-int8", _tile_dpbssd)

struct Loop {
  const char* instructions = "";
  void (*run)() = nullptr;
  double operations = 0;  // operations per round
};

Loop LoopFor(Compute compute) {
  constexpr double tiles = 4 * 16 * 16, wide = kSums512 * 16, narrow = kSums256 * 8;  // number of sums per round
  switch (compute) {
    case Compute::float32:
      if (MayUseAvx512() && __builtin_cpu_supports("avx512f")) return {"avx512", Floats512, wide * 2};
      if (CpuHasAvx2()) return {"avx2", Floats256, narrow * 2};
      return {};
    case Compute::bfloat16:
      if (MayUseAmx()) return {"amx", TilesOfBfloat16, tiles * 64};
      if (CpuHasBfloat16()) return {"avx512-bf16", Bfloat16, wide * 4};
      return {};
    case Compute::int8:
      if (MayUseAmx() && MayUseVnni()) return {"amx", TilesOfBytes, tiles * 128};
      if (MayUseVnni()) return {"avx512-vnni", Bytes512, wide * 8};
      if (MayUseAvxVnni()) return {"avx-vnni", Bytes256, narrow * 8};
      break;
    case Compute::int4:
    case Compute::blocks:
      if (MayUseVnni()) return {"avx512-vnni", Bytes512, wide * 8};
      break;
  }
  if (CpuHasAvx2()) return {"avx2", BytesByPairs, narrow * 8};
  return {};
}
#endif

}  // namespace

double FastestRun(double seconds, const std::function<void()>& run) {
  constexpr int least = 3;
  double best = std::numeric_limits<double>::infinity(), all = 0;
  for (int time = 0; time < least || all < seconds; ++time) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const double its = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::min(best, its);
    all += its;
  }
  return best;
}

Peak MeasurePeak(Compute compute) {
#if defined(__x86_64__)
  const Loop loop = LoopFor(compute);
  if (loop.run == nullptr) return {};
  // Measures each thread's fastest run while the other threads compute, too.
  std::vector<double> rates(static_cast<std::size_t>(Threads()));
  ParallelFor(std::ssize(rates), [&](std::int64_t thread) {
    constexpr double seconds = 0.1;
    rates[static_cast<std::size_t>(thread)] =
        loop.operations * static_cast<double>(kRounds) / FastestRun(seconds, loop.run);
  });
  return {loop.instructions, std::accumulate(rates.begin(), rates.end(), 0.0)};
#else
  static_cast<void>(compute);
  return {};
#endif
}

}  // namespace headlight::kernels
