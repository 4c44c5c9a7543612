#include "headlight/ops/weighted_rows.h"

#include <gtest/gtest.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"

namespace headlight::ops::weighted_rows_test {
namespace {

const std::vector<std::int32_t> kRows = {0, 2, 2, 2, 1, 0};
const std::vector<double> kWeights = {0.5, 2, -1, 3, 0, 1};

TEST(WeightedRows, SumsRows) {
  const Tensor table = Tensor::From({1.0, 10.0, 2.0, 20.0, 4.0, 40.0}, {3, 2});
  EXPECT_EQ(WeightedRows(table, kRows, kWeights, 2).ToVector<double>(), (std::vector<double>{8.5, 85, 8, 80, 1, 10}));
}

TEST(WeightedRows, GradientsMatchFiniteDifferences) {
  const auto f = [](const std::vector<Tensor>& in) { return WeightedRows(in[0], kRows, kWeights, 3); };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({3, 4}, 1)}));
}

TEST(WeightedRows, SumsRowsByWeightsOfATensor) {
  const Tensor table = Tensor::From({1.0, 10.0, 2.0, 20.0, 4.0, 40.0}, {3, 2});
  EXPECT_EQ(WeightedRows(table, kRows, Tensor::From<double>(kWeights, {3, 2})).ToVector<double>(),
            (std::vector<double>{8.5, 85, 8, 80, 1, 10}));
  const auto f = [](const std::vector<Tensor>& in) { return WeightedRows(in[0], kRows, in[1]); };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({3, 70}, 1), RandomTensor({2, 3}, 2)}));
}

TEST(WeightedRows, RejectsShapesThatDoNotFit) {
  const Tensor table = Tensor::Zeros({2, 2});
  EXPECT_NE(ErrorOf([&] { WeightedRows(table, kRows, kWeights, 2); }), "");  // row 2 is out of range
  EXPECT_NE(ErrorOf([&] { WeightedRows(table, std::vector{0, 1}, std::vector{1.0, 1.0}, 3); }), "");
  EXPECT_NE(ErrorOf([&] { WeightedRows(table, kRows, Tensor::Zeros({3, 2})); }), "");  // row 2 is out of range
  EXPECT_NE(ErrorOf([&] { WeightedRows(table, std::vector{0, 1}, Tensor::Zeros({3, 1})); }), "");
}

}  // namespace
}  // namespace headlight::ops::weighted_rows_test
