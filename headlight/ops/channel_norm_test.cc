#include "headlight/ops/channel_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"

namespace headlight::ops::channel_norm_test {
namespace {

const std::vector<Grid> kGrids = {{2, 3}, {1, 4}};

TEST(BatchNorm, HasTheMomentsOfGainAndBias) {
  const Tensor x = RandomTensor({10, 3}, 1), gain = RandomTensor({3}, 2), bias = RandomTensor({3}, 3);
  const BatchNormalized result = BatchNorm(x, gain, bias, 1e-12);
  for (std::int64_t channel = 0; channel < 3; ++channel) {
    const auto moments = [&](const Tensor& of) {
      double mean = 0, variance = 0;
      for (std::int64_t row = 0; row < 10; ++row) mean += of.matrix<double>().row(row)[channel] / 10;
      for (std::int64_t row = 0; row < 10; ++row)
        variance += std::pow(of.matrix<double>().row(row)[channel] - mean, 2) / 10;
      return std::pair(mean, variance);
    };
    EXPECT_NEAR(moments(x).first, result.mean.data<double>()[channel], 1e-12);
    EXPECT_NEAR(moments(x).second, result.variance.data<double>()[channel], 1e-12);
    EXPECT_NEAR(moments(result.y).first, bias.data<double>()[channel], 1e-9);
    EXPECT_NEAR(moments(result.y).second, std::pow(gain.data<double>()[channel], 2), 1e-9);
  }
}

TEST(BatchNorm, GradientsMatchFiniteDifferences) {
  const auto f = [](const std::vector<Tensor>& in) { return BatchNorm(in[0], in[1], in[2], 1e-2).y; };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({7, 3}, 1), RandomTensor({3}, 2), RandomTensor({3}, 3)}));
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({1, 2}, 1), RandomTensor({2}, 2), RandomTensor({2}, 3)}));
}

TEST(GroupNorm, NormalizesEachMapAndGroupSeparately) {
  const Tensor x = RandomTensor({10, 4}, 1);
  const Tensor one = Tensor::From({1.0, 1.0, 1.0, 1.0}, {4}), zero = Tensor::Zeros({4}, DType::float64);
  const Tensor y = GroupNorm({x, kGrids}, 2, one, zero, 1e-12);
  for (const auto& [first, rows] : {std::pair<std::int64_t, std::int64_t>(0, 6), {6, 4}})
    for (const std::int64_t group : {0, 2}) {
      double sum = 0, squares = 0;
      for (std::int64_t row = first; row < first + rows; ++row)
        for (std::int64_t channel = group; channel < group + 2; ++channel) {
          sum += y.matrix<double>().row(row)[channel];
          squares += std::pow(y.matrix<double>().row(row)[channel], 2);
        }
      EXPECT_NEAR(sum, 0, 1e-9);
      EXPECT_NEAR(squares, static_cast<double>(2 * rows), 1e-9);
    }
}

TEST(GroupNorm, GradientsMatchFiniteDifferences) {
  for (const std::int64_t groups : {1, 2, 4}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return GroupNorm({in[0], kGrids}, groups, in[1], in[2], 1e-2);
    };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({10, 4}, 1), RandomTensor({4}, 2), RandomTensor({4}, 3)})) << groups;
  }
}

// Checks that inputs with a large mean give the same results in single and in double precision.
TEST(ChannelNorms, KeepTheirPrecisionFarFromZero) {
  const Tensor x = RandomTensor({1000, 20}, 1), gain = RandomTensor({20}, 2), bias = RandomTensor({20}, 3);
  std::vector<float> single;
  for (double& value : x.span<double>()) single.push_back(static_cast<float>(value += 30));
  const auto to_float = [](const Tensor& of) {
    const std::vector<double> values = of.ToVector<double>();
    const std::vector<float> floats(values.begin(), values.end());
    return Tensor::From(std::span<const float>(floats), of.shape());
  };
  const std::vector<float> actual =
      BatchNorm(Tensor::From(std::span<const float>(single), x.shape()), to_float(gain), to_float(bias))
          .y.ToVector<float>();
  const std::vector<double> expected = BatchNorm(x, gain, bias).y.ToVector<double>();
  for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-4);
}

TEST(ChannelNorms, RejectShapesThatDoNotFit) {
  const Tensor x = Tensor::Zeros({10, 4}), four = Tensor::Zeros({4}), three = Tensor::Zeros({3});
  EXPECT_THAT(ErrorOf([&] { BatchNorm(x, three, three); }), testing::HasSubstr("do not fit x of shape [10, 4]"));
  EXPECT_THAT(ErrorOf([&] { BatchNorm(Tensor::Zeros({0, 4}), four, four); }), testing::HasSubstr("no rows"));
  EXPECT_THAT(ErrorOf([&] {
                GroupNorm({x, kGrids}, 3, four, four);
              }),
              testing::HasSubstr("3 groups do not divide 4 channels"));
  EXPECT_THAT(ErrorOf([&] { GroupNorm({x, {{2, 3}}}, 2, four, four); }), testing::HasSubstr("1 maps of 6 cells"));
}

}  // namespace
}  // namespace headlight::ops::channel_norm_test
