// Checks that `headlight demo` reaches the accuracy that the docs state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

#include "headlight/base/test_support.h"
#include "headlight/cli/program/testing.h"

namespace headlight::demo_slow_test {
namespace {

class DemoTest : public testing::TestWithParam<std::string> {};

TEST_P(DemoTest, TranslatesUnseenSentencesAndNamesUnseenShapes) {
  const TemporaryFolder folder;
  const Outcome outcome = RunProgram({"demo", "--quiet", "--out", folder.File("demo"), "--seed", GetParam()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::smatch found;
  ASSERT_TRUE(std::regex_search(outcome.out, found, std::regex("(\\d+) of 1000 held-out sentences"))) << outcome.out;
  EXPECT_GE(std::stoi(found[1]), 950);
  ASSERT_TRUE(std::regex_search(outcome.out, found, std::regex("(\\d+) of \\d+ held-out shapes"))) << outcome.out;
  EXPECT_GE(std::stoi(found[1]), 540);
  for (const char* file : {"attention.html", "attention.png", "attention.pdf", "model/model.safetensors",
                           "shapes/attention.html", "shapes/attention.png", "shapes/model/model.safetensors"})
    EXPECT_TRUE(std::filesystem::exists(folder.File("demo/") + file)) << file;
}

INSTANTIATE_TEST_SUITE_P(Seeds, DemoTest, testing::Values("1", "2", "3"));

}  // namespace
}  // namespace headlight::demo_slow_test
