#include "headlight/base/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "headlight/base/error.h"
#include "headlight/base/ranks_testing.h"
#include "headlight/base/test_support.h"

namespace headlight::ranks_test {
namespace {

TEST(Ranks, AllGatherReturnsAllParts) {
  for (const int size : {1, 2, 5})
    RunRanks(size, [&](Ranks& ranks) {
      std::vector<std::string> expected;
      for (int rank = 0; rank < size; ++rank) expected.emplace_back(static_cast<std::size_t>(rank), 'a');
      const std::string own(static_cast<std::size_t>(ranks.rank()), 'a');
      EXPECT_EQ(GatherToAll(ranks, own), expected);
      EXPECT_EQ(Broadcast(ranks, ranks.rank() == 0 ? "of the first" : "another"), "of the first");
    });
}

TEST(Ranks, ReportFailedRanksWhileWaiting) {
  std::atomic<int> told = 0;
  EXPECT_THROW(RunRanks(3,
                        [&](Ranks& ranks) {
                          if (ranks.rank() == 1) throw std::runtime_error("no memory");
                          try {
                            GatherToAll(ranks, "");
                          } catch (const OtherRankFailed& failed) {
                            EXPECT_EQ(failed.rank, 1);
                            ++told;
                            throw;
                          }
                        }),
               std::runtime_error);
  EXPECT_EQ(told, 2);
}

TEST(Ranks, MayGiveUpWaiting) {
  EXPECT_THAT(ErrorOf([] {
                RunRanks(2, [](Ranks& ranks) {
                  ranks.hosts = {"a", "b"};
                  ranks.waiting = [&](std::span<const int> peers, double seconds) {
                    if (seconds > 0.05) Fail("{} has not answered", ranks.Name(peers.front()));
                  };
                  if (ranks.rank() == 0) GatherToAll(ranks, "");
                });
              }),
              testing::HasSubstr("rank 1 (host b) has not answered"));
}

}  // namespace
}  // namespace headlight::ranks_test
