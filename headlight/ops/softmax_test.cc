#include "headlight/ops/softmax.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops {
namespace {

// The worked example: softmax([1, 0]).
TEST(Softmax, WorkedExample) {
  const Tensor y = Softmax(Tensor::From<float>({1, 0}, {2}));
  EXPECT_EQ(y.shape(), (Shape{2}));
  EXPECT_NEAR(y.data<float>()[0], 0.731, 5e-4);
  EXPECT_NEAR(y.data<float>()[1], 0.269, 5e-4);
}

TEST(Softmax, LogIsTheLogarithm) {
  const Tensor x = RandomTensor({2, 3, 7}, 1, 5);
  const std::vector<double> weights = Softmax(x).ToVector<double>(), logs = LogSoftmax(x).ToVector<double>();
  for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(logs[i], std::log(weights[i]), 1e-12);
}

TEST(Softmax, Gradients) {
  for (const Shape& shape : {Shape{1}, Shape{3, 5}, Shape{2, 2, 9}}) {
    EXPECT_EQ(CheckGradients([](const auto& inputs) { return Softmax(inputs[0]); }, {RandomTensor(shape, 1, 2)}), "");
    EXPECT_EQ(CheckGradients([](const auto& inputs) { return LogSoftmax(inputs[0]); }, {RandomTensor(shape, 1, 2)}),
              "");
  }
}

}  // namespace
}  // namespace headlight::ops
