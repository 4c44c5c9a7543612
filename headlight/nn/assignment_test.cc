#include "headlight/nn/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "headlight/base/random.h"

namespace headlight::assignment_test {
namespace {

// Returns the lowest cost of assigning min(rows, columns) pairs. Tries all permutations of the larger side.
double LeastCost(const std::vector<double>& costs, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(std::max(rows, columns)));
  std::iota(order.begin(), order.end(), 0);
  double least = 1e300;
  do {
    double sum = 0;
    for (std::int64_t i = 0; i < std::min(rows, columns); ++i) {
      const std::int64_t other = order[static_cast<std::size_t>(i)];
      sum += costs[static_cast<std::size_t>(rows <= columns ? i * columns + other : other * columns + i)];
    }
    least = std::min(least, sum);
  } while (std::ranges::next_permutation(order).found);
  return least;
}

TEST(Assignment, MinimizesTheCost) {
  Random random(7);
  for (const auto& [rows, columns] :
       {std::pair{1, 1}, {3, 3}, {2, 6}, {6, 2}, {5, 7}, {7, 5}, {7, 7}, {1, 7}, {7, 1}}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<double> costs(static_cast<std::size_t>(rows * columns));
      // In every second round, many costs are equal.
      for (double& cost : costs) cost = round % 2 == 0 ? random.Normal() : static_cast<double>(random.Below(3));
      const std::vector<std::int32_t> chosen = Assign({costs.data(), rows, columns, columns});
      ASSERT_EQ(std::ssize(chosen), rows);
      std::vector<std::int32_t> taken;
      double sum = 0;
      for (std::size_t row = 0; row < chosen.size(); ++row) {
        if (chosen[row] < 0) continue;
        taken.push_back(chosen[row]);
        sum += costs[row * static_cast<std::size_t>(columns) + static_cast<std::size_t>(chosen[row])];
      }
      EXPECT_EQ(std::ssize(taken), std::min(rows, columns));
      std::ranges::sort(taken);
      EXPECT_TRUE(std::ranges::adjacent_find(taken) == taken.end());
      EXPECT_NEAR(sum, LeastCost(costs, rows, columns), 1e-9) << rows << " x " << columns;
    }
  }
}

TEST(Assignment, HandlesEmptyCosts) {
  EXPECT_THAT(Assign({nullptr, 0, 5, 5}), testing::IsEmpty());
  EXPECT_THAT(Assign({nullptr, 3, 0, 0}), testing::ElementsAre(-1, -1, -1));
}

}  // namespace
}  // namespace headlight::assignment_test
