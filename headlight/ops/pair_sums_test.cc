#include "headlight/ops/pair_sums.h"

#include <gtest/gtest.h>

#include <vector>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::pair_sums_test {
namespace {

TEST(PairSums, CountEachPairOnce) {
  const Tensor points = Tensor::From<float>({0, 0, 0, 3, 4, 0, 0, 0, 1}, {1, 9});
  const auto sum = [&](const auto& f) { return SumOverPairs(points, f, 0, 1).template data<float>()[0]; };
  EXPECT_EQ(sum([]<typename T>(std::int64_t, std::int64_t, T) { return PairTerm<T>{1, 0}; }), 3);
  EXPECT_EQ(sum([]<typename T>(std::int64_t i, std::int64_t j, T distance) {
              return PairTerm<T>{i + j == 1 ? distance : 0, 0};
            }),
            5);
}

TEST(PairSums, Gradients) {
  // Sums squared distances with a weight per pair.
  const auto f = [](const std::vector<Tensor>& in) {
    const auto term = []<typename T>(std::int64_t i, std::int64_t j, T distance) {
      const T weight = static_cast<T>(1 + i * j);
      return PairTerm<T>{weight * distance * distance, 2 * weight * distance};
    };
    return SumOverPairs(in[0], term, 0.01, 1.5);
  };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({3, 6}, 1)}));
  EXPECT_THROW(f({Tensor::Zeros({2, 4})}), Error);
}

}  // namespace
}  // namespace headlight::ops::pair_sums_test
