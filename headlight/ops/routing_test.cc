#include "headlight/ops/routing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"

namespace headlight::ops::routing_test {
namespace {

// Returns logits whose softmax has these probabilities.
Tensor LogitsOf(std::vector<double> probabilities, const Shape& shape) {
  for (double& probability : probabilities) probability = std::log(probability);
  return Tensor::From<double>(probabilities, shape);
}

TEST(Routing, TakesTheMostProbableExperts) {
  const Tensor logits = LogitsOf({0.1, 0.5, 0.15, 0.25, 0.3, 0.1, 0.3, 0.3}, {2, 4});
  const Routing routing = Route(logits, 2, /*normalized=*/false);
  EXPECT_EQ(routing.experts, (std::vector<std::int32_t>{1, 3, 0, 2}));  // ties go to the lower index
  const std::vector<double> weights = routing.weights.ToVector<double>();
  const std::vector<double> normalized = Route(logits, 2, /*normalized=*/true).weights.ToVector<double>();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(weights[i], (std::vector{0.5, 0.25, 0.3, 0.3})[i], 1e-12);
    EXPECT_NEAR(normalized[i], (std::vector{2.0 / 3, 1.0 / 3, 0.5, 0.5})[i], 1e-12);
  }
}

TEST(Routing, StaysInBoundsWithoutNumbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Route(Tensor::From({nan, 1.0, nan}, {1, 3}), 3, true).experts, (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(Routing, GradientsMatchFiniteDifferences) {
  for (const bool normalized : {false, true}) {
    const auto f = [&](const std::vector<Tensor>& in) { return Route(in[0], 3, normalized).weights; };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({4, 5}, 1, 2)}));
  }
}

// Token 0 has experts 0 and 1, and the other two tokens have experts 1 and 2.
TEST(LoadBalancingLoss, WeighsMeanProbabilitiesByShares) {
  const Routing first = Route(LogitsOf({0.5, 0.3, 0.2}, {1, 3}), 2, true);
  const Routing second = Route(LogitsOf({0.1, 0.3, 0.6, 0.2, 0.5, 0.3}, {2, 3}), 2, true);
  const double loss = 3 * (1.0 / 3 * 0.8 / 3 + 1.0 * 1.1 / 3 + 2.0 / 3 * 1.1 / 3);
  EXPECT_NEAR(LoadBalancingLoss(std::vector{first, second}).data<double>()[0], loss, 1e-12);
}

TEST(LoadBalancingLoss, GradientsMatchFiniteDifferences) {
  const auto f = [](const std::vector<Tensor>& in) {
    return LoadBalancingLoss(std::vector{Route(in[0], 2, true), Route(in[1], 2, false)});
  };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({4, 5}, 1, 2), RandomTensor({3, 5}, 2, 2)}));
}

TEST(Routing, RefusesWhatDoesNotFit) {
  EXPECT_NE(ErrorOf([] { Route(Tensor::Zeros({2, 3}), 0, true); }), "");
  EXPECT_NE(ErrorOf([] { Route(Tensor::Zeros({2, 3}), 4, true); }), "");
  EXPECT_NE(ErrorOf([] { LoadBalancingLoss({}); }), "");
  const std::vector<Routing> differ = {Route(Tensor::Zeros({2, 3}), 1, true), Route(Tensor::Zeros({2, 4}), 1, true)};
  EXPECT_NE(ErrorOf([&] { LoadBalancingLoss(differ); }), "");
}

}  // namespace
}  // namespace headlight::ops::routing_test
