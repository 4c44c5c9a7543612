#include "headlight/ops/concatenate.h"

#include <gtest/gtest.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"

namespace headlight::ops::concatenate_test {
namespace {

TEST(Concatenate, ConcatenatesRows) {
  EXPECT_EQ(
      Concatenate(Tensor::From({1.0, 2.0}, {1, 2}), Tensor::From({3.0, 4.0, 5.0, 6.0}, {2, 2})).ToVector<double>(),
      (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Concatenate, ConcatenatesColumns) {
  EXPECT_EQ(ConcatenateColumns(Tensor::From({1.0, 2.0}, {2, 1}), Tensor::From({3.0, 4.0, 5.0, 6.0}, {2, 2}))
                .ToVector<double>(),
            (std::vector<double>{1, 3, 4, 2, 5, 6}));
}

TEST(Concatenate, GradientsMatchFiniteDifferences) {
  const auto f = [](const std::vector<Tensor>& in) { return Concatenate(in[0], in[1]); };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({2, 3}, 1), RandomTensor({4, 3}, 2)}));
  const auto columns = [](const std::vector<Tensor>& in) { return ConcatenateColumns(in[0], in[1]); };
  EXPECT_EQ("", CheckGradients(columns, {RandomTensor({3, 2}, 1), RandomTensor({3, 4}, 2)}));
  const auto twice = [](const std::vector<Tensor>& in) { return Concatenate(in[0], in[0]); };
  EXPECT_EQ("", CheckGradients(twice, {RandomTensor({2, 3}, 1)}));
  const auto three = [](const std::vector<Tensor>& in) { return Concatenate(in); };
  EXPECT_EQ("", CheckGradients(three, {RandomTensor({2, 3}, 1), RandomTensor({1, 3}, 2), RandomTensor({3, 3}, 3)}));
}

TEST(Concatenate, RejectsDifferentSizes) {
  EXPECT_NE(ErrorOf([] { Concatenate(std::span<const Tensor>()); }), "");
  EXPECT_NE(ErrorOf([] { Concatenate(Tensor::Zeros({1, 2}), Tensor::Zeros({1, 3})); }), "");
  EXPECT_NE(ErrorOf([] { ConcatenateColumns(Tensor::Zeros({1, 2}), Tensor::Zeros({2, 2})); }), "");
}

}  // namespace
}  // namespace headlight::ops::concatenate_test
