#include "headlight/cli/commands/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "headlight/base/ranks_testing.h"
#include "headlight/cli/program/testing.h"

namespace headlight::shard_test {
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

TEST_F(ShardTest, ConcatenatedOutputsEqualTheFullRun) {
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

TEST_F(ShardTest, InvalidPartsAreRefused) {
  const std::string file = Write("lines", "a\n");
  for (const char* shard : {"", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "1/2 ", "a/b", "1/9999999999999999999"})
    EXPECT_THAT(RefusalOf({"translate", model, file, "--shard", shard}), HasSubstr("--shard")) << shard;
  EXPECT_THAT(RefusalOf({"translate", model, "--shard", "1/2"}, "a\n"), HasSubstr("can be read only once:"));
}

TEST(SendParts, AWorkingRankIsAwaited) {
  std::string parts;
  RunRanks(3, [&](Ranks& ranks) {
    ranks.waiting = [&](std::span<const int> peers, double seconds) {
      if (seconds > 0.3) Fail("{} has not answered", ranks.Name(peers.front()));
    };
    const Heartbeat signs(ranks, 0.05);
    if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(1));
    SendParts(
        ranks, static_cast<std::size_t>(ranks.rank()),
        [&](std::size_t index) { return fmt::format("{}.{} ", ranks.rank(), index); },
        [&](const std::string& part) { parts += part; });
  });
  EXPECT_EQ(parts, "1.0 2.0 2.1 ");
}

TEST(SendParts, AStoppedRankIsNamed) {
  EXPECT_THAT(ErrorOf([] {
                RunRanks(2, [](Ranks& ranks) {
                  ranks.waiting = [&](std::span<const int> peers, double seconds) {
                    if (seconds > 0.3) Fail("{} has not answered", ranks.Name(peers.front()));
                  };
                  if (ranks.rank() == 1) return std::this_thread::sleep_for(std::chrono::seconds(1));
                  const Heartbeat signs(ranks, 0.05);
                  SendParts(ranks, 0, {}, [](const std::string&) {});
                });
              }),
              HasSubstr("rank 1 has not answered"));
}

TEST(EmbedShard, ConcatenatedRowsEqualTheFullRunAndIndexesMerge) {
  const std::string encoder = HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences";
  const TemporaryFolder folder;
  const std::string lines = folder.File("lines"), npy = folder.File("vectors.npy");
  WriteFile(lines, "Two dogs.\nA green meadow.\n\nThe children are playing.\nA dog.\n");
  constexpr std::size_t row = 12 * sizeof(float);
  const auto rows = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"embed", encoder, lines, "--out", npy, "--quiet"};
    command.insert(command.end(), more.begin(), more.end());
    MustRun(command);
    const std::string file = ReadFile(npy);
    return file.substr((file.find('\n') + 1));
  };
  const std::string all = rows({});
  EXPECT_EQ(all.size(), 5 * row);
  for (const int count : {2, 7}) {
    std::string parts;
    for (int index = 1; index <= count; ++index) parts += rows({"--shard", fmt::format("{}/{}", index, count)});
    EXPECT_TRUE(parts == all) << count;
  }

  const auto index = [&](const std::string& name) { return folder.File(name); };
  MustRun({"embed", encoder, lines, "--index", index("whole"), "--quiet"});
  for (const char* const part : {"1", "2"})
    MustRun({"embed", encoder, lines, "--index", index(part), "--shard", std::string(part) + "/2", "--quiet"});
  MustRun({"embed", encoder, index("1"), index("2"), "--index", index("both"), "--quiet"});
  const auto found = [&](const std::string& in) { return RunProgram({"search", in, "A dog.", "--top-k", "9"}).out; };
  EXPECT_EQ(found(index("both")), found(index("whole")));
  EXPECT_THAT(RefusalOf({"embed", encoder, index("1"), lines, "--index", index("both")}), HasSubstr("is no index"));
}

}  // namespace
}  // namespace headlight::shard_test
