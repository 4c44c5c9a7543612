#include "headlight/ops/activation.h"

#include <gtest/gtest.h>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::activation_test {
namespace {

TEST(Activate, KnownValues) {
  const Tensor x = Tensor::From<float>({-1, 0, 2}, {3});
  const auto value = [&](Activation activation, std::int64_t i) { return Activate(activation, x).data<float>()[i]; };
  EXPECT_EQ(value(Activation::relu, 0), 0);
  EXPECT_EQ(value(Activation::relu, 2), 2);
  EXPECT_NEAR(value(Activation::gelu, 2), 1.9544997, 1e-6);  // 2 * Phi(2)
  EXPECT_NEAR(value(Activation::gelu, 0), -0.1586553, 1e-6);
  EXPECT_NEAR(value(Activation::gelu_tanh, 2), 1.9545977, 1e-6);
  EXPECT_NEAR(value(Activation::silu, 2), 1.7615942, 1e-6);
  EXPECT_NEAR(value(Activation::quick_gelu, 2), 1.9356586, 1e-6);
  EXPECT_NEAR(value(Activation::tanh, 0), -0.7615942, 1e-6);
  EXPECT_EQ(Activate(Activation::none, x).ToVector<float>(), x.ToVector<float>());
}

TEST(Activate, Gradients) {
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh,
                                      Activation::silu, Activation::quick_gelu, Activation::tanh}) {
    EXPECT_EQ(CheckGradients([=](const auto& inputs) { return Activate(activation, inputs[0]); },
                             {RandomTensor({3, 13}, 5, 3)}),
              "")
        << static_cast<int>(activation);
  }
}

}  // namespace
}  // namespace headlight::ops::activation_test
