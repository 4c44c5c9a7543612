#include "headlight/kernels/cpu.h"

#include "headlight/kernels/targets.h"
// clang-format off: targets.h goes before Highway.
#include <hwy/highway.h>
// clang-format on

#include <atomic>

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

}  // namespace headlight::kernels
