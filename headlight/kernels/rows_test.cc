#include "headlight/kernels/rows.h"

#include <gtest/gtest.h>

#include <mutex>
#include <utility>
#include <vector>

namespace headlight::rows_test {
namespace {

TEST(ForBlocksAndGroups, VisitsEachOnceGroupByGroup) {
  const int before = Threads();
  for (const int threads : {1, 2, 3, 8}) {
    SetThreads(threads);
    for (const auto& [blocks_of, groups_of] :
         {std::pair(1, 1), std::pair(1, 5), std::pair(7, 1), std::pair(7, 3), std::pair(64, 4)}) {
      const std::int64_t blocks = blocks_of, groups = groups_of;  // clang 14 cannot capture structured bindings
      std::mutex mutex;
      std::vector<int> visits(static_cast<std::size_t>(blocks * groups));
      ForBlocksAndGroups(blocks, groups, [&](std::int64_t block, std::int64_t group, std::int64_t next) {
        const std::lock_guard lock(mutex);
        ++visits[static_cast<std::size_t>(block * groups + group)];
        EXPECT_TRUE(next == group || next == group + 1);
        if (blocks == 1) {
          EXPECT_EQ(next, group + 1);
        }
      });
      EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << blocks << " x " << groups << ", " << threads;
    }
  }
  SetThreads(1);
  std::vector<std::pair<std::int64_t, std::int64_t>> order;
  ForBlocksAndGroups(2, 2,
                     [&](std::int64_t block, std::int64_t group, std::int64_t) { order.emplace_back(block, group); });
  EXPECT_EQ(order, (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
  SetThreads(before);
}

}  // namespace
}  // namespace headlight::rows_test
