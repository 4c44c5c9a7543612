#include "headlight/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/softmax.h"

namespace headlight::ops {
namespace {

TEST(CrossEntropy, IsTheLogSoftmaxOfTheLabels) {
  const Tensor logits = RandomTensor({3, 5}, 1, 4);
  const std::vector<std::int32_t> labels = {2, -1, 4};
  const std::vector<double> logs = LogSoftmax(logits).ToVector<double>();
  EXPECT_NEAR(CrossEntropy(logits, labels, 0.5).ToVector<double>()[0], -0.5 * (logs[2] + logs[14]), 1e-12);
}

TEST(CrossEntropy, Gradients) {
  const std::vector<std::int32_t> labels = {0, 3, -1, 1};
  EXPECT_EQ(CheckGradients([&](const auto& inputs) { return CrossEntropy(inputs[0], labels, 0.25); },
                           {RandomTensor({4, 6}, 2, 3)}),
            "");
}

}  // namespace
}  // namespace headlight::ops
