#include "headlight/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// Sets the bound for one test.
class WithThreads {
 public:
  explicit WithThreads(int threads) : before_(Threads()) { SetThreads(threads); }
  ~WithThreads() { SetThreads(before_); }

 private:
  int before_;
};

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const WithThreads with(threads);
    for (const int count : {0, 1, 2, 3, 7, 100, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      ParallelFor(count, [&](std::int64_t index) { ++visits[static_cast<std::size_t>(index)]; });
      for (const auto& visit : visits) ASSERT_EQ(visit, 1);
    }
  }
}

TEST(ParallelFor, ManyShortRoundsLoseNothing) {
  const WithThreads with(4);
  std::atomic<std::int64_t> sum{0};
  for (int round = 0; round < 20000; ++round) ParallelFor(3, [&](std::int64_t index) { sum += index; });
  EXPECT_EQ(sum, 3 * 20000);
}

TEST(ParallelFor, NestedCallsRunInLine) {
  const WithThreads with(2);
  std::atomic<int> visits{0};
  ParallelFor(4, [&](std::int64_t) { ParallelFor(5, [&](std::int64_t) { ++visits; }); });
  EXPECT_EQ(visits, 20);
}

TEST(ParallelFor, ServesCallersOnManyThreads) {
  const WithThreads with(2);
  std::atomic<int> visits{0};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) ParallelFor(10, [&](std::int64_t) { ++visits; });
    });
  callers.clear();
  EXPECT_EQ(visits, 4 * 500 * 10);
}

TEST(SetThreads, RefusesNone) {
  EXPECT_THROW(SetThreads(0), Error);
  EXPECT_THROW(SetThreads(-1), Error);
}

}  // namespace
}  // namespace headlight
