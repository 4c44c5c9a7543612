#include "headlight/ops/pooling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headlight/autograd/gradient_check.h"
#include "headlight/autograd/tape.h"
#include "headlight/base/test_support.h"

namespace headlight::ops::pooling_test {
namespace {

const std::vector<Grid> kGrids = {{3, 4}, {2, 2}};
const PoolingShape kShapes[] = {{},
                                {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}},
                                {.window = {2, 1}, .stride = {1, 1}, .padding = {1, 0}}};

TEST(MaxPool, TakesTheMaximumOfEachWindow) {
  const Tensor x = Tensor::From({-5.0, -2.0, -3.0, -4.0, -9.0, -6.0, -7.0, -8.0, -1.0}, {9, 1});
  const auto pooled = [&](const PoolingShape& shape) { return MaxPool({x, {{3, 3}}}, shape); };
  EXPECT_EQ(pooled({}).rows.ToVector<double>(), (std::vector<double>{-2}));
  EXPECT_EQ(pooled({}).grids, (std::vector<Grid>{{1, 1}}));
  const FeatureMaps padded = pooled({.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
  EXPECT_EQ(padded.grids, (std::vector<Grid>{{2, 2}}));
  EXPECT_EQ(padded.rows.ToVector<double>(), (std::vector<double>{-2, -2, -4, -1}));
}

TEST(MaxPool, KeepsNaN) {
  const double nan = std::nan("");
  for (const auto& values : {std::array{nan, 1.0, 2.0, 3.0}, {1.0, 2.0, nan, 3.0}, {1.0, 2.0, 3.0, nan}})
    EXPECT_TRUE(std::isnan(
        MaxPool({Tensor::From(std::span<const double>(values), {4, 1}), {{2, 2}}}, {}).rows.data<double>()[0]));
}

TEST(MaxPool, GivesTheGradientToTheFirstMaximum) {
  Tape tape;
  const Tensor x = tape.Watch(Tensor::From({1.0, 3.0, 3.0, 3.0}, {4, 1}));
  tape.Backward(MaxPool({x, {{2, 2}}}, {}).rows);
  EXPECT_EQ(tape.GradientOf(x).ToVector<double>(), (std::vector<double>{0, 1, 0, 0}));
}

TEST(AveragePool, CountsThePaddingAsZeros) {
  const Tensor x = Tensor::From({4.0, 8.0, 12.0, 16.0}, {4, 1});
  EXPECT_EQ(AveragePool({x, {{2, 2}}}, {}).rows.ToVector<double>(), (std::vector<double>{10}));
  EXPECT_EQ(AveragePool({x, {{2, 2}}}, {.window = {2, 2}, .stride = {2, 2}, .padding = {1, 1}}).rows.ToVector<double>(),
            (std::vector<double>{1, 2, 3, 4}));
}

TEST(NearestResize, RepeatsOrSkipsCells) {
  const Tensor x = Tensor::From({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {6, 1});
  const auto resized = [&](Grid to) { return NearestResize({x, {{2, 3}}}, {to}).rows.ToVector<double>(); };
  EXPECT_EQ(resized({2, 3}), x.ToVector<double>());
  EXPECT_EQ(resized({3, 4}), (std::vector<double>{1, 1, 2, 3, 1, 1, 2, 3, 4, 4, 5, 6}));
  EXPECT_EQ(resized({1, 2}), (std::vector<double>{1, 2}));
}

TEST(Pooling, GradientsMatchFiniteDifferences) {
  const Tensor x = RandomTensor({16, 3}, 1);
  for (const PoolingShape& shape : kShapes) {
    EXPECT_EQ("", CheckGradients([&](const auto& in) { return MaxPool({in[0], kGrids}, shape).rows; }, {x}));
    EXPECT_EQ("", CheckGradients([&](const auto& in) { return AveragePool({in[0], kGrids}, shape).rows; }, {x}));
  }
  EXPECT_EQ("", CheckGradients([&](const auto& in) { return MeanOfMaps({in[0], kGrids}); }, {x}));
  const std::vector<Grid> to = {{5, 7}, {1, 2}};
  EXPECT_EQ("", CheckGradients([&](const auto& in) { return NearestResize({in[0], kGrids}, to).rows; }, {x}));
}

TEST(Pooling, RejectsShapesThatDoNotFit) {
  const FeatureMaps x{Tensor::Zeros({4, 1}), {{2, 2}}};
  EXPECT_EQ(ErrorOf([&] { MaxPool(x, {}); }), "");
  EXPECT_THAT(ErrorOf([&] { MaxPool(x, {.window = {3, 1}}); }), testing::HasSubstr("a map of 2 x 2 is smaller"));
  EXPECT_THAT(ErrorOf([&] { MaxPool(x, {.padding = {2, 0}}); }), testing::HasSubstr("not possible"));
  EXPECT_THAT(ErrorOf([&] { AveragePool(x, {.stride = {0, 1}}); }), testing::HasSubstr("not possible"));
  EXPECT_THAT(ErrorOf([&] { MeanOfMaps({x.rows, {{1, 2}}}); }), testing::HasSubstr("1 maps of 2 cells"));
  EXPECT_THAT(ErrorOf([&] { NearestResize(x, {}); }), testing::HasSubstr("0 sizes for 1 maps"));
}

}  // namespace
}  // namespace headlight::ops::pooling_test
