#include "headlight/kernels/cpu.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "headlight/kernels/int8.h"
#include "headlight/kernels/targets.h"
// clang-format off: targets.h must be included before Highway.
#include <hwy/highway.h>
// clang-format on

namespace headlight::kernels::cpu_test {
namespace {

// Returns true if Highway uses no target newer than AVX2. Newer targets have lower bits.
bool HighwayUsesNoMoreThanAvx2() { return (hwy::SupportedTargets() & (HWY_AVX2 - 1)) == 0; }

bool Names(const std::string& features, const char* name) { return features.find(name) != std::string::npos; }

bool UsesNoMoreThan(const std::string& newest) {
  const std::string features = CpuFeatures();
  if (Names(features, " amx")) return false;
  if (newest == "avx512") return true;
  for (const Int8Path& path : Int8Paths())
    if (std::string(path.name).find("AVX-512") != std::string::npos) return false;
  return !Names(features, " vnni") && !Names(features, " bfloat16") && !MayUseAvx512() && HighwayUsesNoMoreThanAvx2() &&
         (newest == "avx-vnni" || !MayUseAvxVnni());
}

// Runs in a separate process, because the limit must be set before any kernel is called.
TEST(CpuDeathTest, LimitDisablesNewerInstructions) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* newest : {"avx2", "avx-vnni", "avx512"})
    EXPECT_EXIT(std::_Exit(LimitCpu(newest) && UsesNoMoreThan(newest) ? 0 : 1), testing::ExitedWithCode(0), "")
        << newest;
  EXPECT_EXIT(std::_Exit(LimitCpu("sse9") ? 1 : 0), testing::ExitedWithCode(0), "");
}

TEST(Cpu, TestsObeyTheLimitOfTheEnvironment) {
  const char* const newest = std::getenv("HEADLIGHT_CPU");
  if (newest == nullptr) GTEST_SKIP() << "HEADLIGHT_CPU is not set";
  EXPECT_TRUE(UsesNoMoreThan(newest)) << CpuFeatures();
}

}  // namespace
}  // namespace headlight::kernels::cpu_test
