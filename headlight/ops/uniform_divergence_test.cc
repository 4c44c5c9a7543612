#include "headlight/ops/uniform_divergence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::ops::uniform_divergence_test {
namespace {

TEST(UniformDivergence, IsBetweenZeroAndLogClasses) {
  const auto of = [](const std::vector<double>& logits) {
    return UniformDivergence(Tensor::From<double>(logits, {1, std::ssize(logits)}), 2).ToVector<double>()[0];
  };
  EXPECT_NEAR(of({3, 3, 3}), 0, 1e-12);
  EXPECT_NEAR(of({0, 900, 0, 0}), 2 * std::log(4), 1e-12);
  // The probabilities are 1/4 and 3/4.
  EXPECT_NEAR(of({0, std::log(3)}), 2 * (0.25 * std::log(0.25) + 0.75 * std::log(0.75) + std::log(2)), 1e-12);
}

TEST(UniformDivergence, Gradients) {
  EXPECT_EQ(CheckGradients(
                [&](const auto& in) {
                  const Tensor loss = UniformDivergence(in[0], 0.7);
                  return Multiply(loss, loss);
                },
                {RandomTensor({3, 5}, 8)}),
            "");
}

}  // namespace
}  // namespace headlight::ops::uniform_divergence_test
