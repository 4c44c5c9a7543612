#include "headlight/kernels/cpu.h"

#include "headlight/kernels/targets.h"
// clang-format off: targets.h must be included before Highway.
#include <hwy/highway.h>
// clang-format on

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <atomic>
#include <cstdint>

#include "headlight/base/error.h"

namespace headlight::kernels {
namespace {

struct Allowed {
  std::atomic<bool> amx{true}, avx512{true}, avx_vnni{true};
};
Allowed& AllowedSets() {
  static Allowed allowed;
  return allowed;
}

}  // namespace

bool LimitCpu(std::string_view newest) {
  if (newest != "avx512" && newest != "avx-vnni" && newest != "avx2") return false;
  AllowedSets().amx = false;
  if (newest == "avx512") return true;
  AllowedSets().avx512 = false;
  AllowedSets().avx_vnni = newest == "avx-vnni";
  hwy::DisableTargets(HWY_AVX2 - 1);  // newer targets have lower bits
  return true;
}

bool MayUseAvx512() { return AllowedSets().avx512; }

#if defined(__x86_64__)
bool MayUseVnni() {
  return MayUseAvx512() && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
bool MayUseAvxVnni() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;  // CPUID leaf 7.1; GCC before 13 cannot name the feature
  constexpr unsigned kAvxVnni = 1U << 4;
  return AllowedSets().avx_vnni && CpuHasAvx2() && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 &&
         (eax & kAvxVnni) != 0;
}
bool CpuHasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool CpuHasBfloat16() {
  return MayUseAvx512() && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw");
}
#else
bool MayUseVnni() { return false; }
bool MayUseAvxVnni() { return false; }
bool CpuHasAvx2() { return false; }
bool CpuHasBfloat16() { return false; }
#endif

#if defined(__x86_64__) && defined(__linux__)
bool MayUseAmx() {
  static const bool granted = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned kBfloat16 = 1U << 22, kTiles = 1U << 24, kInt8 = 1U << 25, kAll = kBfloat16 | kTiles | kInt8;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kAll) != kAll) return false;
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // arch/x86/include/uapi/asm/prctl.h
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return granted && AllowedSets().amx && MayUseAvx512() && __builtin_cpu_supports("avx512f");
}
#else
bool MayUseAmx() { return false; }
#endif

std::string CpuFeatures() {
  const std::int64_t targets = hwy::SupportedTargets();
  std::string features = fmt::format("{:x}", static_cast<std::uint64_t>(targets));  // the targets that Highway may use
  const auto add = [&](bool has, const char* name) {
    if (has) features += std::string(" ") + name;
  };
  add(CpuHasAvx2(), "avx2");
  add(MayUseVnni(), "vnni");
  add(CpuHasBfloat16(), "bfloat16");
  add(MayUseAmx(), "amx");
  return features;
}

}  // namespace headlight::kernels
