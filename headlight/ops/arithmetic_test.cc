#include "headlight/ops/arithmetic.h"

#include <gmock/gmock.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/view.h"

namespace headlight::ops::arithmetic_test {
namespace {

using Inputs = std::vector<Tensor>;

TEST(Arithmetic, Values) {
  const Tensor a = Tensor::From<float>({1, 2, 3, 4}, {2, 2}), b = Tensor::From<float>({5, 6, 7, 8}, {2, 2});
  const Tensor vector = Tensor::From<float>({10, 20}, {2});
  EXPECT_EQ(Add(a, b).ToVector<float>(), (std::vector<float>{6, 8, 10, 12}));
  EXPECT_EQ(Multiply(a, b).ToVector<float>(), (std::vector<float>{5, 12, 21, 32}));
  EXPECT_EQ(Scale(a, -2).ToVector<float>(), (std::vector<float>{-2, -4, -6, -8}));
  EXPECT_EQ(Add(a, vector).ToVector<float>(), (std::vector<float>{11, 22, 13, 24}));
  const Tensor column = Tensor::From<float>({10, 20}, {2, 1});
  EXPECT_EQ(Multiply(column, a).ToVector<float>(), (std::vector<float>{10, 20, 60, 80}));
  EXPECT_EQ(Add(column, vector).ToVector<float>(), (std::vector<float>{20, 30, 30, 40}));
  EXPECT_EQ(Add(column, vector).shape(), (Shape{2, 2}));
  EXPECT_EQ(Sum(a).ToVector<float>(), (std::vector<float>{10}));
}

TEST(Arithmetic, Gradients) {
  const Tensor a = RandomTensor({2, 3, 5}, 1), b = RandomTensor({2, 3, 5}, 2);
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Add(in[0], in[1]); }, {a, b}), "");
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Multiply(in[0], in[1]); }, {a, b}), "");
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Scale(in[0], 0.7); }, {a}), "");
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Sum(in[0]); }, {a}), "");
  // Uses the same tensor twice, in one operation and in two operations.
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Multiply(in[0], in[0]); }, {a}), "");
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return Add(Multiply(in[0], in[1]), Add(in[0], in[0])); }, {a, b}),
            "");
}

// Checks each element against the definition, using index 0 on missing or repeated axes.
TEST(Arithmetic, BroadcastsAnyShapes) {
  const std::vector<std::pair<Shape, Shape>> cases = {
      {{2, 3, 4}, {4}},       {{4}, {2, 3, 4}},       {{2, 3, 4}, {3, 1}},
      {{2, 1, 4}, {3, 1}},    {{2, 3, 4}, {1}},       {{2, 1, 3, 1, 2}, {4, 1, 5, 1}},
      {{3, 1}, {1, 4}},       {{2, 3, 1}, {2, 1, 5}}, {{1, 1, 1}, {1, 1}},
      {{2, 3, 4}, {2, 1, 1}}, {{5, 1}, {5, 6}},       {{2, 3}, {2, 2, 3}}};
  for (const auto& [left, right] : cases) {
    const Tensor a = RandomTensor(left, 1), b = RandomTensor(right, 2);
    const Tensor sum = Add(a, b), product = Multiply(a, b);
    const auto at = [&](const Tensor& x, std::int64_t index) {
      std::int64_t position = 0, step = 1;
      for (int back = 1; back <= sum.shape().rank(); ++back) {
        const std::int64_t size = sum.shape()[sum.shape().rank() - back], coordinate = index % size;
        index /= size;
        const int axis = x.shape().rank() - back;
        if (axis < 0) continue;
        if (x.shape()[axis] != 1) position += coordinate * step;
        step *= x.shape()[axis];
      }
      return x.data<double>()[position];
    };
    for (std::int64_t i = 0; i < sum.elements(); ++i) {
      ASSERT_EQ(sum.data<double>()[i], at(a, i) + at(b, i)) << ToString(left) << ToString(right) << i;
      ASSERT_EQ(product.data<double>()[i], at(a, i) * at(b, i)) << ToString(left) << ToString(right) << i;
    }
    EXPECT_EQ(CheckGradients([](const Inputs& in) { return Add(in[0], in[1]); }, {a, b}), "") << ToString(right);
    EXPECT_EQ(CheckGradients([](const Inputs& in) { return Multiply(in[0], in[1]); }, {a, b}), "") << ToString(right);
  }
}

TEST(Arithmetic, BroadcastsToAViewOfColumns) {
  const auto f = [](const Inputs& in) { return Multiply(Columns(in[0], 1, 3), in[1]); };
  EXPECT_EQ(CheckGradients(f, {RandomTensor({2, 4, 5}, 1), RandomTensor({3}, 2)}), "");
  EXPECT_EQ(CheckGradients(f, {RandomTensor({2, 4, 5}, 1), RandomTensor({4, 1}, 2)}), "");
}

TEST(Arithmetic, NamesTheShapesThatDoNotFit) {
  const Tensor a = RandomTensor({2, 3}, 1), b = RandomTensor({3, 2}, 2);
  EXPECT_THAT([&] { Add(a, b); }, testing::ThrowsMessage<Error>(testing::HasSubstr("Add: float64 [2, 3]")));
  EXPECT_THAT([&] { Multiply(a, b); }, testing::ThrowsMessage<Error>(testing::HasSubstr("[3, 2]")));
}

}  // namespace
}  // namespace headlight::ops::arithmetic_test
