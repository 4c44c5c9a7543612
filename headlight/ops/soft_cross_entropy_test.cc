#include "headlight/ops/soft_cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/cross_entropy.h"

namespace headlight::ops::soft_cross_entropy_test {
namespace {

TEST(SoftCrossEntropy, EqualsCrossEntropyForOneHotTargets) {
  const Tensor logits = RandomTensor({3, 5}, 1, 4), targets = Tensor::Zeros({3, 5}, DType::float64);
  const std::vector<std::int32_t> labels = {2, 0, 4};
  for (std::size_t row = 0; row < 3; ++row) targets.data<double>()[5 * static_cast<int>(row) + labels[row]] = 1;
  EXPECT_NEAR(SoftCrossEntropy(logits, targets, 0.5).ToVector<double>()[0],
              CrossEntropy(logits, labels, 0.5).ToVector<double>()[0], 1e-12);
}

TEST(SoftCrossEntropy, IsLinearInTheTargets) {
  const Tensor logits = RandomTensor({4, 3}, 1, 4), a = RandomTensor({4, 3}, 2, 1), b = RandomTensor({4, 3}, 3, 1);
  const auto loss = [&](const Tensor& targets) { return SoftCrossEntropy(logits, targets, 1).ToVector<double>()[0]; };
  EXPECT_NEAR(loss(Add(a, Scale(b, 2))), loss(a) + 2 * loss(b), 1e-12);
}

TEST(SoftCrossEntropy, Gradients) {
  const Tensor targets = RandomTensor({4, 6}, 5, 1);
  EXPECT_EQ(CheckGradients([&](const auto& inputs) { return SoftCrossEntropy(inputs[0], targets, 0.25); },
                           {RandomTensor({4, 6}, 2, 3)}),
            "");
  const auto inside = [&](const std::vector<Tensor>& in) {
    const Tensor loss = SoftCrossEntropy(Scale(in[0], 2), targets, 0.5);
    return Multiply(loss, loss);
  };
  EXPECT_EQ(CheckGradients(inside, {RandomTensor({4, 6}, 2, 3)}), "");
}

TEST(SoftCrossEntropy, RejectsOtherShapes) {
  EXPECT_THAT(ErrorOf([] {
                SoftCrossEntropy(RandomTensor({4, 6}, 2, 3), RandomTensor({4, 5}, 2, 3), 1);
              }),
              testing::HasSubstr("targets of shape [4, 5]"));
}

}  // namespace
}  // namespace headlight::ops::soft_cross_entropy_test
