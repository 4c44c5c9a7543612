#include "headlight/ops/arithmetic.h"

#include <gmock/gmock.h>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops {
namespace {

TEST(Arithmetic, Values) {
  const Tensor a = Tensor::From<float>({1, 2, 3, 4}, {2, 2}), b = Tensor::From<float>({5, 6, 7, 8}, {2, 2});
  const Tensor vector = Tensor::From<float>({10, 20}, {2});
  EXPECT_EQ(Add(a, b).ToVector<float>(), (std::vector<float>{6, 8, 10, 12}));
  EXPECT_EQ(Multiply(a, b).ToVector<float>(), (std::vector<float>{5, 12, 21, 32}));
  EXPECT_EQ(Scale(a, -2).ToVector<float>(), (std::vector<float>{-2, -4, -6, -8}));
  EXPECT_EQ(AddVector(a, vector).ToVector<float>(), (std::vector<float>{11, 22, 13, 24}));
  EXPECT_EQ(Sum(a).ToVector<float>(), (std::vector<float>{10}));
}

TEST(Arithmetic, Gradients) {
  const Tensor a = RandomTensor({2, 3, 5}, 1), b = RandomTensor({2, 3, 5}, 2), vector = RandomTensor({5}, 3);
  using Inputs = std::vector<Tensor>;
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Add(in[0], in[1]); }, {a, b}), "");
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Multiply(in[0], in[1]); }, {a, b}), "");
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Scale(in[0], 0.7); }, {a}), "");
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return AddVector(in[0], in[1]); }, {a, vector}), "");
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Sum(in[0]); }, {a}), "");
  // One tensor used twice, by one operation and by two.
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Multiply(in[0], in[0]); }, {a}), "");
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Add(Multiply(in[0], in[1]), Add(in[0], in[0])); }, {a, b}),
            "");
}

TEST(Arithmetic, NamesTheShapesThatDoNotFit) {
  const Tensor a = RandomTensor({2, 3}, 1), b = RandomTensor({3, 2}, 2);
  EXPECT_THAT([&] { Add(a, b); }, testing::ThrowsMessage<Error>(testing::HasSubstr("Add: float64 [2, 3]")));
  EXPECT_THAT([&] { Multiply(a, b); }, testing::ThrowsMessage<Error>(testing::HasSubstr("[3, 2]")));
  EXPECT_THAT([&] { AddVector(a, b); }, testing::ThrowsMessage<Error>(testing::HasSubstr("AddVector")));
}

}  // namespace
}  // namespace headlight::ops
