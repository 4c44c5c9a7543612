#include "headlight/ops/exponential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/view.h"

namespace headlight::ops::exponential_test {
namespace {

TEST(Exponential, KnownValues) {
  const std::vector<float> values = Exponential(Tensor::From<float>({0, 1, -1, -200}, {4})).ToVector<float>();
  EXPECT_EQ(values[0], 1);
  EXPECT_NEAR(values[1], 2.7182818F, 1e-6);
  EXPECT_NEAR(values[2], 0.3678794F, 1e-7);
  EXPECT_EQ(values[3], 0);
  EXPECT_EQ(Exponential(Tensor::Zeros({})).shape(), Shape{});
}

TEST(Exponential, Gradients) {
  EXPECT_EQ(CheckGradients([](const auto& in) { return Exponential(in[0]); }, {RandomTensor({3, 5}, 1, 2)}), "");
  EXPECT_EQ(
      CheckGradients([](const auto& in) { return Exponential(Columns(in[0], 1, 3)); }, {RandomTensor({3, 5}, 2, 2)}),
      "");
}

}  // namespace
}  // namespace headlight::ops::exponential_test
