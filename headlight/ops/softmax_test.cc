#include "headlight/ops/softmax.h"

#include <gtest/gtest.h>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::softmax_test {
namespace {

// Checks a worked example: softmax([1, 0]).
TEST(Softmax, WorkedExample) {
  const Tensor y = Softmax(Tensor::From<float>({1, 0}, {2}));
  EXPECT_EQ(y.shape(), (Shape{2}));
  EXPECT_NEAR(y.data<float>()[0], 0.731, 5e-4);
  EXPECT_NEAR(y.data<float>()[1], 0.269, 5e-4);
}

TEST(Softmax, Gradients) {
  for (const Shape& shape : {Shape{1}, Shape{3, 5}, Shape{2, 2, 9}}) {
    EXPECT_EQ(CheckGradients([](const auto& inputs) { return Softmax(inputs[0]); }, {RandomTensor(shape, 1, 2)}), "");
  }
}

}  // namespace
}  // namespace headlight::ops::softmax_test
