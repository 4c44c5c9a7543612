#include "headlight/train/gradient_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "headlight/base/random.h"

namespace headlight::gradient_tree_test {
namespace {

constexpr std::int64_t kNumbers = 48;

// Returns values of very different magnitudes, so that each order of addition gives a different sum.
std::vector<std::vector<float>> Parts(std::int64_t count) {
  Random random(7);
  std::vector<std::vector<float>> parts(static_cast<std::size_t>(count));
  for (auto& part : parts)
    for (std::int64_t i = 0; i < kNumbers; ++i)
      part.push_back(static_cast<float>(random.Normal() * std::exp(8 * random.Normal())));
  return parts;
}

Tensor Vector(const std::vector<float>& values) { return Tensor::From<float>(values, {std::ssize(values)}); }

// Returns the sum of the parts, added in the given order.
std::vector<float> Sum(const std::vector<std::vector<float>>& parts, const std::vector<std::int64_t>& order) {
  GradientTree tree(std::ssize(parts));
  std::vector<float> sum;
  for (const std::int64_t part : order) {
    const Tensor gradient = Vector(parts[static_cast<std::size_t>(part)]);
    const bool complete = tree.Add(0, part, gradient);
    EXPECT_EQ(complete, part == order.back());
    sum = gradient.ToVector<float>();
    if (!complete) {
      EXPECT_THAT(sum, testing::Each(0.0F));
    }
  }
  EXPECT_TRUE(tree.nodes().empty());
  return sum;
}

std::vector<std::int64_t> InOrder(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(GradientTree, HasTheSameBitsForAnyOrderOfArrival) {
  Random random(3);
  for (std::int64_t count = 1; count <= 21; ++count) {
    const auto parts = Parts(count);
    const std::vector<float> sum = Sum(parts, InOrder(count));
    for (int draw = 0; draw < 10; ++draw) {
      std::vector<std::int64_t> order = InOrder(count);
      for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.Below(left)]);
      ASSERT_EQ(Sum(parts, order), sum) << count;
    }
  }
}

TEST(GradientTree, HasTheSameBitsForAnyDivisionAmongRanks) {
  for (const std::int64_t count : {1, 2, 5, 8, 13, 16, 21}) {
    const auto parts = Parts(count);
    const std::vector<float> sum = Sum(parts, InOrder(count));
    for (const std::int64_t ranks : {1, 2, 4, 8})
      for (const bool blocks : {true, false}) {
        GradientTree whole(count);
        std::vector<float> found;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          GradientTree own(count);
          for (std::int64_t part = 0; part < count; ++part)
            if ((blocks ? part * ranks / count : part % ranks) == rank) {
              const Tensor gradient = Vector(parts[static_cast<std::size_t>(part)]);
              if (own.Add(0, part, gradient)) found = gradient.ToVector<float>();
            }
          for (const auto& [index, node] : own.nodes())
            if (const Tensor gradient = node.Clone(); whole.Add(index.first, index.second, gradient))
              found = gradient.ToVector<float>();
        }
        ASSERT_EQ(found, sum) << count << " parts, " << ranks << " ranks";
      }
  }
}

TEST(GradientTree, DiffersFromASequentialSum) {  // otherwise the tests above could not fail
  const auto parts = Parts(16);
  std::vector<float> sum(kNumbers);
  for (const auto& part : parts) std::ranges::transform(sum, part, sum.begin(), std::plus{});
  EXPECT_NE(Sum(parts, InOrder(16)), sum);
}

TEST(GradientTree, KeepsFewGradientsAtATime) {
  constexpr std::int64_t count = 1000;
  GradientTree tree(count);
  for (std::int64_t part = 0; part < count; ++part) {
    tree.Add(0, part, Tensor::Zeros({kNumbers}));
    EXPECT_LE(tree.nodes().size(), static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(part + 1))));
  }
}

}  // namespace
}  // namespace headlight::gradient_tree_test
