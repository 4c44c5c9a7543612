#include "headlight/ops/sigmoid_cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/sigmoid.h"
#include "headlight/ops/view.h"

namespace headlight::ops::sigmoid_cross_entropy_test {
namespace {

TEST(SigmoidCrossEntropy, EqualsItsComposition) {
  const Tensor logits = RandomTensor({3, 5}, 1, 3), targets = Sigmoid(RandomTensor({3, 5}, 2, 3));
  double expected = 0;
  const auto p = Sigmoid(logits).ToVector<double>(), t = targets.ToVector<double>();
  for (std::size_t i = 0; i < p.size(); ++i)
    expected -= 0.25 * (t[i] * std::log(p[i]) + (1 - t[i]) * std::log(1 - p[i]));
  EXPECT_NEAR(SigmoidCrossEntropy(logits, targets, 0.25).data<double>()[0], expected, 1e-12);
}

TEST(SigmoidCrossEntropy, StaysFiniteFarFromZero) {
  const Tensor logits = Tensor::From<float>({1000, -1000}, {2});
  EXPECT_EQ(SigmoidCrossEntropy(logits, Tensor::From<float>({1, 0}, {2}), 1).data<float>()[0], 0);
  EXPECT_EQ(SigmoidCrossEntropy(logits, Tensor::From<float>({0, 1}, {2}), 1).data<float>()[0], 2000);
}

TEST(SigmoidCrossEntropy, Gradients) {
  const Tensor targets = Sigmoid(RandomTensor({4, 3}, 2, 3));
  EXPECT_EQ(CheckGradients([&](const auto& in) { return SigmoidCrossEntropy(in[0], targets, 0.5); },
                           {RandomTensor({4, 3}, 1, 3)}),
            "");
  EXPECT_EQ(CheckGradients([&](const auto& in) { return SigmoidCrossEntropy(Columns(in[0], 1, 3), targets, 2); },
                           {RandomTensor({4, 5}, 1, 3)}),
            "");
}

TEST(SigmoidCrossEntropy, NamesTheShapesThatDoNotFit) {
  EXPECT_THAT(
      [] {
        SigmoidCrossEntropy(RandomTensor({2, 4}, 1), RandomTensor({4, 2}, 2), 1);
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[4, 2]")));
}

}  // namespace
}  // namespace headlight::ops::sigmoid_cross_entropy_test
