#include "headlight/ops/pointwise_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::pointwise_attention_test {
namespace {

TEST(PointwiseAttention, KnownValues) {
  // One head of size 1: the weights are softmax(2 * 1, 2 * 0).
  const Tensor query = Tensor::From<float>({2}, {1, 1});
  const std::vector<Tensor> sets = {Tensor::From<float>({1, 10}, {1, 2}), Tensor::From<float>({0, 20}, {1, 2})};
  const double first = 1 / (1 + std::exp(-2.0));
  EXPECT_NEAR(PointwiseAttention(query, sets, 1).ToVector<float>()[0], 10 * first + 20 * (1 - first), 1e-5);
}

TEST(PointwiseAttention, ReturnsTheValuesOfASingleSet) {
  const Tensor set = Tensor::From<float>({9, -9, 3, 4}, {1, 4});
  EXPECT_EQ(PointwiseAttention(Tensor::From<float>({5, 7}, {1, 2}), {set}, 2).ToVector<float>(),
            (std::vector<float>{3, 4}));
}

// Uses more rows than one task processes, and checks that each result depends only on its own row.
TEST(PointwiseAttention, RowsAreIndependent) {
  const std::int64_t rows = 700;
  const Tensor query = RandomTensor({rows, 6}, 1);
  const std::vector<Tensor> sets = {RandomTensor({rows, 12}, 2), RandomTensor({rows, 12}, 3)};
  const std::vector<double> all = PointwiseAttention(query, sets, 2).ToVector<double>();
  const auto row = [](const Tensor& x) { return x.ViewRows(600, 1).Clone(); };
  const std::vector<double> alone = PointwiseAttention(row(query), {row(sets[0]), row(sets[1])}, 2).ToVector<double>();
  EXPECT_EQ(std::vector<double>(all.begin() + 600 * 6, all.begin() + 601 * 6), alone);
}

TEST(PointwiseAttention, Gradients) {
  const auto f = [](const std::vector<Tensor>& in) { return PointwiseAttention(in[0], {in[1], in[2], in[3]}, 2); };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({3, 4}, 1), RandomTensor({3, 8}, 2), RandomTensor({3, 8}, 3),
                                   RandomTensor({3, 8}, 4)}));
}

TEST(PointwiseAttention, RejectsOtherShapes) {
  const Tensor query = Tensor::Zeros({2, 4});
  EXPECT_THROW(PointwiseAttention(query, {}, 2), Error);
  EXPECT_THROW(PointwiseAttention(query, {Tensor::Zeros({2, 8})}, 3), Error);
  EXPECT_THROW(PointwiseAttention(query, {Tensor::Zeros({2, 4})}, 2), Error);
  EXPECT_THROW(PointwiseAttention(query, {Tensor::Zeros({3, 8})}, 2), Error);
}

}  // namespace
}  // namespace headlight::ops::pointwise_attention_test
