#include "headlight/ops/sigmoid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/view.h"

namespace headlight::ops::sigmoid_test {
namespace {

TEST(Sigmoid, KnownValues) {
  const Tensor y = Sigmoid(Tensor::From<float>({0, 1, -1, 200, -200}, {5}));
  const std::vector<float> values = y.ToVector<float>();
  EXPECT_EQ(values[0], 0.5F);
  EXPECT_NEAR(values[1], 0.7310586F, 1e-6);
  EXPECT_NEAR(values[2], 0.2689414F, 1e-6);
  EXPECT_EQ(values[3], 1);
  EXPECT_EQ(values[4], 0);
}

TEST(Sigmoid, Gradients) {
  EXPECT_EQ(CheckGradients([](const auto& in) { return Sigmoid(in[0]); }, {RandomTensor({3, 5}, 1, 4)}), "");
  EXPECT_EQ(CheckGradients([](const auto& in) { return Sigmoid(Columns(in[0], 1, 3)); }, {RandomTensor({3, 5}, 2, 4)}),
            "");
}

}  // namespace
}  // namespace headlight::ops::sigmoid_test
