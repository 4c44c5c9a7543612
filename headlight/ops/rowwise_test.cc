#include "headlight/ops/rowwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/view.h"

namespace headlight::ops::rowwise_test {
namespace {

using std::exp, std::log1p, std::sqrt;

constexpr auto kFormula = [](std::int64_t row, const auto* a, const auto* b, auto* y) {
  y[0] = a[0] * b[0] - a[1] / (b[1] * b[1] + 2);
  y[1] = sqrt(a[0] * a[0] + 1) + static_cast<float>(row) * b[1];
  y[2] = log1p(exp(-b[0])) * -a[1];
};

TEST(Rowwise, ComputesEveryRow) {
  const Tensor y =
      Rowwise<3, 2, 2>(kFormula, Tensor::From<float>({0, 6, 0, 3}, {2, 2}), Tensor::From<float>({1, 2, 0, 1}, {2, 2}));
  const std::vector<float> expected = {-1, 1, -6 * std::log1p(std::exp(-1.F)), -1, 2, -3 * std::log(2.F)};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(y.data<float>()[i], expected[i], 1e-6) << i;
}

TEST(Rowwise, Gradients) {
  const auto f = [](const std::vector<Tensor>& in) { return Rowwise<3, 2, 2>(kFormula, in[0], in[1]); };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({37, 2}, 1), RandomTensor({37, 2}, 2)}));
  const Tensor fixed = RandomTensor({3, 2}, 3);
  const auto of_columns = [&](const std::vector<Tensor>& in) {
    return Rowwise<3, 2, 2>(kFormula, fixed, Columns(in[0], 1, 2));
  };
  EXPECT_EQ("", CheckGradients(of_columns, {RandomTensor({3, 4}, 2)}));
}

TEST(Rowwise, RejectsOtherShapes) {
  EXPECT_THROW((Rowwise<3, 2, 2>(kFormula, Tensor::Zeros({3, 2}), Tensor::Zeros({3, 1}))), Error);
  EXPECT_THROW((Rowwise<3, 2, 2>(kFormula, Tensor::Zeros({3, 2}), Tensor::Zeros({4, 2}))), Error);
}

}  // namespace
}  // namespace headlight::ops::rowwise_test
