#include "headlight/ops/cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/softmax.h"

namespace headlight::ops::cross_entropy_test {
namespace {

TEST(CrossEntropy, IsTheNegativeLogSoftmax) {
  const Tensor logits = RandomTensor({3, 5}, 1, 4);
  const std::vector<std::int32_t> labels = {2, -1, 4};
  const std::vector<double> weights = Softmax(logits).ToVector<double>();
  EXPECT_NEAR(CrossEntropy(logits, labels, 0.5).ToVector<double>()[0],
              -0.5 * (std::log(weights[2]) + std::log(weights[14])), 1e-12);
}

TEST(CrossEntropy, Gradients) {
  const std::vector<std::int32_t> labels = {0, 3, -1, 1};
  EXPECT_EQ(CheckGradients([&](const auto& inputs) { return CrossEntropy(inputs[0], labels, 0.25); },
                           {RandomTensor({4, 6}, 2, 3)}),
            "");
}

// Compares with torch.nn.functional.cross_entropy(logits, labels, weight=weights, reduction="sum") and its gradient,
// from PyTorch 2.
TEST(CrossEntropy, WeighsClassesLikePyTorch) {
  const Tensor logits = Tensor::From<double>({0.5, -1, 2, 1, 0, -1, 0.2, 0.1, -0.3, -2, 1, 0.4}, {4, 3});
  const std::vector<std::int32_t> labels = {2, 0, 1, -1};
  const std::vector<double> weights = {1, 3, 0.5};
  EXPECT_NEAR(CrossEntropy(logits, labels, 1, weights).ToVector<double>()[0], 3.5907445794327373, 1e-12);
  EXPECT_NEAR(CrossEntropy(logits, labels, 0.25, weights).ToVector<double>()[0], 3.5907445794327373 / 4, 1e-12);
  const auto loss = [&](const auto& inputs) { return CrossEntropy(inputs[0], labels, 0.25, weights); };
  EXPECT_EQ(CheckGradients(loss, {logits}), "");
  const std::vector<double> few = {1, 3};
  EXPECT_THAT(ErrorOf([&] { CrossEntropy(logits, labels, 1, few); }), testing::HasSubstr("2 class weights"));
}

TEST(CrossEntropy, GradientsInsideAFunction) {
  const std::vector<std::int32_t> first = {0, 3, -1, 1}, second = {5, 5, 0, 2};
  const auto weighted_sum = [&](const std::vector<Tensor>& in) {
    return Add(Scale(CrossEntropy(in[0], first, 0.25), -1.5), Scale(CrossEntropy(in[0], second, 1), 0.3));
  };
  const auto square = [&](const std::vector<Tensor>& in) {
    const Tensor loss = CrossEntropy(Scale(in[0], 2), first, 0.25);
    return Multiply(loss, loss);
  };
  EXPECT_EQ(CheckGradients(weighted_sum, {RandomTensor({4, 6}, 2, 3)}), "");
  EXPECT_EQ(CheckGradients(square, {RandomTensor({4, 6}, 2, 3)}), "");
}

}  // namespace
}  // namespace headlight::ops::cross_entropy_test
