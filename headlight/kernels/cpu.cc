#include "headlight/kernels/cpu.h"

#include "headlight/kernels/targets.h"
// clang-format off: targets.h goes before Highway.
#include <hwy/highway.h>
// clang-format on

#include <atomic>
#include <cstdint>

#include "headlight/base/error.h"
#include "headlight/kernels/bfloat16.h"

namespace headlight::kernels {
namespace {

std::atomic<bool>& Avx512Allowed() {
  static std::atomic<bool> allowed{true};
  return allowed;
}

}  // namespace

void UseNoMoreThanAvx2() {
  Avx512Allowed() = false;
  hwy::DisableTargets(HWY_AVX2 - 1);  // the bits of better targets are lower
}

bool MayUseAvx512() { return Avx512Allowed(); }

#if defined(__x86_64__)
bool MayUseVnni() {
  return MayUseAvx512() && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
bool CpuHasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
bool MayUseVnni() { return false; }
bool CpuHasAvx2() { return false; }
#endif

std::string CpuFeatures() {
  const std::int64_t targets = hwy::SupportedTargets();
  std::string features = fmt::format("{:x}", static_cast<std::uint64_t>(targets));  // which kernels Highway chooses
  const auto add = [&](bool has, const char* name) {
    if (has) features += std::string(" ") + name;
  };
  add(CpuHasAvx2(), "avx2");
  add(MayUseVnni(), "vnni");
  add(CpuHasBfloat16(), "bfloat16");
  return features;
}

}  // namespace headlight::kernels
