#include "headlight/ops/logit_laplace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::ops::logit_laplace_test {
namespace {

// Checks that the density integrates to 1 over (0, 1).
TEST(LogitLaplace, IsANegativeLogDensity) {
  constexpr int steps = 200'000;
  double mass = 0;
  for (int i = 0; i < steps; ++i) {
    const double x = (i + 0.5) / steps;
    const double loss =
        LogitLaplace(Tensor::From<double>({0.4, std::log(0.3)}, {1, 2}), Tensor::From<double>({x}, {1, 1}), 1)
            .ToVector<double>()[0];
    mass += std::exp(-loss) / steps;
  }
  EXPECT_NEAR(mass, 1, 1e-4);
}

TEST(LogitLaplace, ScalesAndAdds) {
  const double x = 0.2, mu = -1, b = 2;
  const double expected = std::abs(std::log(x / (1 - x)) - mu) / b + std::log(2 * b * x * (1 - x));
  EXPECT_DOUBLE_EQ(LogitLaplace(Tensor::From<double>({mu, std::log(b), mu, std::log(b)}, {2, 2}),
                                Tensor::From<double>({x, x}, {2, 1}), 3)
                       .ToVector<double>()[0],
                   6 * expected);
}

TEST(LogitLaplace, Gradients) {
  const Tensor targets = Tensor::From<double>({0.1, 0.5, 0.9, 0.3, 0.77, 0.2}, {2, 3});
  EXPECT_EQ(CheckGradients(
                [&](const auto& in) {
                  const Tensor loss = LogitLaplace(in[0], targets, 0.3);
                  return Multiply(loss, loss);
                },
                {RandomTensor({2, 6}, 3)}),
            "");
}

TEST(LogitLaplace, RejectsTargetsOutOfRange) {
  const Tensor parameters = Tensor::From<double>({0, 0}, {1, 2});
  EXPECT_THAT(ErrorOf([&] {
                LogitLaplace(parameters, Tensor::From<double>({1}, {1, 1}), 1);
              }),
              testing::HasSubstr("target 0 of row 0"));
  EXPECT_THAT(ErrorOf([&] {
                LogitLaplace(parameters, Tensor::From<double>({0.5, 0.5}, {1, 2}), 1);
              }),
              testing::HasSubstr("targets of shape [1, 2]"));
}

}  // namespace
}  // namespace headlight::ops::logit_laplace_test
