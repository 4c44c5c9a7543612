#include "headlight/ops/absolute_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/view.h"

namespace headlight::ops::absolute_error_test {
namespace {

TEST(AbsoluteError, SumsDistances) {
  const Tensor x = Tensor::From<double>({1, 2, -3, 0.5}, {2, 2});
  const std::vector<double> target = {1, 4, 1, 0};
  EXPECT_DOUBLE_EQ(AbsoluteError(x, target, 0.5).ToVector<double>()[0], 0.5 * (0 + 2 + 4 + 0.5));
  EXPECT_THAT(ErrorOf([&] {
                AbsoluteError(x, std::vector<double>{1, 2}, 1);
              }),
              testing::HasSubstr("2 targets do not fit [2, 2]"));
}

TEST(AbsoluteError, Gradients) {
  const std::vector<double> target = {0.3, -0.2, 0.9, 0.1, -0.4, 0.6};
  EXPECT_EQ(
      CheckGradients([&](const auto& in) { return AbsoluteError(in[0], target, 0.7); }, {RandomTensor({3, 2}, 5)}), "");
  // Tests columns of a wider tensor, and an incoming gradient other than 1.
  EXPECT_EQ(CheckGradients(
                [&](const auto& in) {
                  const Tensor loss = AbsoluteError(Columns(in[0], 1, 2), target, 0.7);
                  return Multiply(loss, loss);
                },
                {RandomTensor({3, 4}, 6)}),
            "");
}

}  // namespace
}  // namespace headlight::ops::absolute_error_test
