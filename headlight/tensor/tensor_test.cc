#include "headlight/tensor/tensor.h"

#include <gtest/gtest.h>

namespace headlight::tensor_test {
namespace {

TEST(Shape, RejectsNegativeAndOverflowingAxes) {
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_THROW((Shape{1LL << 40, 1LL << 40}), Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1}), Error);
  EXPECT_EQ(ToString(Shape{2, 3}), "[2, 3]");
  EXPECT_EQ(Shape{}.elements(), 1);
}

TEST(Tensor, ViewsShareElements) {
  const Tensor x = Tensor::From<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 2, 3});
  EXPECT_EQ(x.ViewColumns(1, 2).ToVector<float>(), (std::vector<float>{1, 2, 4, 5, 7, 8, 10, 11}));
  EXPECT_EQ(x.ViewRows(1, 1).ToVector<float>(), (std::vector<float>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(x.ViewRows(1, 1).ViewColumns(2, 1).ToVector<float>(), (std::vector<float>{8, 11}));
  EXPECT_EQ(x.ViewAs({12}).ViewRows(5, 2).ToVector<float>(), (std::vector<float>{5, 6}));
  x.ViewColumns(0, 1).Fill(-1);
  EXPECT_EQ(x.ToVector<float>(), (std::vector<float>{-1, 1, 2, -1, 4, 5, -1, 7, 8, -1, 10, 11}));
  EXPECT_THROW(x.ViewColumns(2, 2), Error);
  EXPECT_THROW(x.ViewRows(2, 1), Error);
  EXPECT_THROW(x.ViewColumns(0, 2).ViewAs({8}), Error);
}

TEST(Tensor, RejectsOtherTypes) {
  EXPECT_THROW(Tensor::Zeros({2}).data<double>(), Error);
  EXPECT_THROW(Tensor::From<float>({1, 2, 3}, {2}), Error);
}

}  // namespace
}  // namespace headlight::tensor_test
