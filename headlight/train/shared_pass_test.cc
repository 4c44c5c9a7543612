#include "headlight/train/shared_pass.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include "headlight/base/ranks_testing.h"
#include "headlight/generate/hypothesis.h"

namespace headlight::shared_pass_test {
namespace {

// Returns the indices of a block's examples.
std::vector<double> ExamplesOf(std::int64_t begin, std::int64_t end) {
  std::vector<double> examples;
  for (std::int64_t i = begin; i < end; ++i) examples.push_back(static_cast<double>(i));
  return examples;
}

TEST(SharedBlocks, EveryRankReturnsAllBlocksInOrder) {
  const std::vector<std::vector<double>> expected = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9}};
  EXPECT_EQ(SharedBlocks({}, 10, 3, ExamplesOf), expected);
  EXPECT_TRUE(SharedBlocks({}, 0, 3, ExamplesOf).empty());
  for (const int size : {2, 3, 5}) {
    RunRanks(size, [&](Ranks& ranks) {
      std::int64_t last = 0, computed = 0;
      PassWatch watch;
      watch.ranks = &ranks;
      watch.progress = [&](std::int64_t done, std::int64_t all) {
        EXPECT_EQ(all, 10);
        EXPECT_GT(done, last);
        last = done;
      };
      EXPECT_EQ(SharedBlocks(watch, 10, 3,
                             [&](std::int64_t begin, std::int64_t end) {
                               EXPECT_EQ(begin / 3 % size, ranks.rank());
                               ++computed;
                               return ExamplesOf(begin, end);
                             }),
                expected);
      EXPECT_EQ(computed, (3 - ranks.rank() + size) / size);
    });
  }
}

TEST(SharedBlocks, ACancelledRankEndsAll) {
  RunRanks(2, [](Ranks& ranks) {
    PassWatch watch = {.cancelled = [&] { return ranks.rank() == 1; }};
    watch.ranks = &ranks;
    EXPECT_THROW(SharedBlocks(watch, 10, 3, ExamplesOf), Cancelled);
  });
}

// Checks that heartbeats of a busy rank prevent a time-out of the waiting rank.
TEST(SharedBlocks, AWaitingRankReceivesHeartbeats) {
  std::atomic<bool> heard{false};
  RunRanks(2, [&](Ranks& ranks) {
    double last = 0;
    ranks.waiting = [&](std::span<const int>, double seconds) {
      if (seconds < last) heard = true;
      last = seconds;
    };
    PassWatch watch;
    watch.ranks = &ranks;
    SharedBlocks(watch, 4000, 1, [&](std::int64_t begin, std::int64_t) {
      if (ranks.rank() == 1 && !heard) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return std::vector{static_cast<double>(begin)};
    });
  });
  EXPECT_TRUE(heard);
}

}  // namespace
}  // namespace headlight::shared_pass_test
