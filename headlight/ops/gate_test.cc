#include "headlight/ops/gate.h"

#include <gtest/gtest.h>

#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/view.h"

namespace headlight::ops::gate_test {
namespace {

TEST(Gate, KnownValues) {
  const Tensor y =
      Gate(Tensor::From<float>({1, 2, 3, 4}, {2, 2}), Tensor::From<float>({0, 100, -100, 0, 0, 0, 100, 100}, {4, 2}));
  EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{0.5, 2, 0, 2, 0.5, 1, 3, 4}));
}

TEST(Gate, Gradients) {
  const auto f = [](const std::vector<Tensor>& in) { return Gate(in[0], in[1]); };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({4, 3}, 1), RandomTensor({4, 3}, 2, 3)}));
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({2, 3}, 1), RandomTensor({6, 3}, 2, 3)}));
  const auto of_columns = [](const std::vector<Tensor>& in) {
    return Gate(Columns(in[0], 0, 2), Columns(in[0], 2, 2));
  };
  EXPECT_EQ("", CheckGradients(of_columns, {RandomTensor({3, 5}, 3, 2)}));
}

TEST(Gate, RejectsOtherShapes) {
  EXPECT_THROW(Gate(Tensor::Zeros({2, 3}), Tensor::Zeros({3, 3})), Error);
  EXPECT_THROW(Gate(Tensor::Zeros({3, 2}), Tensor::Zeros({3, 3})), Error);
}

}  // namespace
}  // namespace headlight::ops::gate_test
