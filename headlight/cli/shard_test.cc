#include "headlight/cli/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headlight/cli/testing.h"

namespace headlight {
namespace {

using testing::HasSubstr;

TEST(Shard, PartsOfAllInputsFollowOneAnother) {
  for (const std::int64_t inputs : {0, 1, 2, 7, 100})
    for (const std::int64_t count : {1, 2, 3, 8}) {
      std::int64_t next = 0;
      for (std::int64_t index = 1; index <= count; ++index) {
        const Shard shard{index, count};
        EXPECT_EQ(shard.begin(inputs), next);
        EXPECT_LE(shard.end(inputs) - shard.begin(inputs), (inputs + count - 1) / count);
        next = shard.end(inputs);
      }
      EXPECT_EQ(next, inputs);
    }
}

struct ShardTest : ProgramTest {
  std::string Printed(const std::vector<std::string>& arguments) const {
    const Outcome outcome = RunProgram(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
};

TEST_F(ShardTest, OutputsOneAfterAnotherAreThoseOfAll) {
  const std::string file = Write("lines", "a b\nb\n\nc a b\nb b\na\nc\n");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--n-best", "2", "--json"}, {"--temperature", "1", "--seed", "3"}}) {
    std::vector<std::string> arguments = {"translate", model, file, "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string whole = Printed(arguments);
    for (const int count : {2, 3, 9}) {
      std::string parts;
      for (int index = 1; index <= count; ++index) {
        std::vector<std::string> part = arguments;
        part.insert(part.end(), {"--shard", fmt::format("{}/{}", index, count)});
        parts += Printed(part);
      }
      EXPECT_EQ(parts, whole) << count << " parts";
    }
  }
}

TEST_F(ShardTest, WhatIsNoPartIsRefused) {
  const std::string file = Write("lines", "a\n");
  for (const char* shard : {"", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "1/2 ", "a/b", "1/9999999999999999999"})
    EXPECT_THAT(RefusalOf({"translate", model, file, "--shard", shard}), HasSubstr("--shard")) << shard;
  EXPECT_THAT(RefusalOf({"translate", model, "--shard", "1/2"}, "a\n"),
              HasSubstr("can be read only once: name a file"));
}

}  // namespace
}  // namespace headlight
