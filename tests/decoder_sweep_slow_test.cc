// Compares decoders with random configurations with Hugging Face Transformers. HEADLIGHT_DECODERS is a folder that
// tools/make_decoder_goldens.py --random creates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/test_support.h"
#include "tests/decoder_parity_testing.h"

namespace headlight::decoder_sweep_slow_test {
namespace {

TEST(DecoderSweep, EqualsTransformers) {
  const char* const root = std::getenv("HEADLIGHT_DECODERS");
  if (root == nullptr)
    GTEST_SKIP() << "HEADLIGHT_DECODERS names no folder that tools/make_decoder_goldens.py --random has made";
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(root)) folders.push_back(entry.path().string());
  std::ranges::sort(folders);
  ASSERT_FALSE(folders.empty());
  std::map<std::string, std::pair<double, std::string>> worst;
  for (const std::string& folder : folders) {
    SCOPED_TRACE(folder);
    EXPECT_EQ(ErrorOf([&] {
                for (const auto& [what, deviation] : DeviationsOf(folder).of) {
                  EXPECT_LT(deviation, 1e-4) << what;
                  worst[what] = std::max(worst[what], std::pair(deviation, folder));
                }
                ExpectGeneratedTokens(folder);
              }),
              "");
  }
  for (const auto& [what, of] : worst)
    fmt::print("{}: at most {:.1e} of the scale, in {}\n", what, of.first, of.second);
}

}  // namespace
}  // namespace headlight::decoder_sweep_slow_test
