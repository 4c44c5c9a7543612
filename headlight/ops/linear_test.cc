#include "headlight/ops/linear.h"

#include <gtest/gtest.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/autograd/tape.h"
#include "headlight/ops/view.h"

namespace headlight::ops::linear_test {
namespace {

TEST(Linear, GradientsMatchFiniteDifferences) {
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu}) {
    const auto f = [activation](const std::vector<Tensor>& in) {
      return Linear(in[0], Weight{in[1]}, in[2], activation);
    };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({2, 2, 3}, 1), RandomTensor({5, 3}, 2), RandomTensor({5}, 3)}));
  }
  const auto without_bias = [](const std::vector<Tensor>& in) { return Linear(in[0], Weight{in[1]}); };
  EXPECT_EQ("", CheckGradients(without_bias, {RandomTensor({4, 3}, 1), RandomTensor({2, 3}, 2)}));
}

TEST(Linear, AccumulatesGradientsOfAnInputUsedTwice) {
  const auto f = [](const std::vector<Tensor>& in) { return Linear(Linear(in[0], Weight{in[1]}), Weight{in[1]}); };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({2, 3}, 1), RandomTensor({3, 3}, 2)}));
}

TEST(Linear, AcceptsColumnsOfAFusedProjection) {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor fused = Linear(in[0], Weight{in[1]});
    return Linear(Columns(fused, 2, 3), Weight{Columns(fused, 0, 3)});
  };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({4, 2}, 1), RandomTensor({6, 2}, 2)}));
}

TEST(Linear, PackedWeightsGiveTheSameResult) {
  const Tensor x = Tensor::From<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor w = Tensor::From<float>({1, 0, -1, 2, 1, 0}, {2, 3});
  kernels::PackedMatrix<float> packed(3, 2);
  packed.Pack(w.matrix<float>(), true);
  EXPECT_EQ(Linear(x, Weight{w, &packed}).ToVector<float>(), (std::vector<float>{-2, 4, -2, 13}));
  EXPECT_EQ(Linear(x, Weight{w}).ToVector<float>(), (std::vector<float>{-2, 4, -2, 13}));
}

TEST(Linear, NamesShapesThatDoNotFit) {
  EXPECT_THAT(
      [] {
        Linear(Tensor::Zeros({2, 3}), Weight{Tensor::Zeros({4, 5})});
      },
      testing::ThrowsMessage<Error>(
          testing::AllOf(testing::HasSubstr("[2, 3]"), testing::HasSubstr("weight of shape [4, 5]"))));
  EXPECT_THROW(Linear(Tensor::Zeros({2, 5}), Weight{Tensor::Zeros({4, 5})}, Tensor::Zeros({5})), Error);
}

}  // namespace
}  // namespace headlight::ops::linear_test
