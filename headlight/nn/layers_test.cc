#include "headlight/nn/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/ops/arithmetic.h"

namespace headlight::layers_test {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

struct Parts {
  Parameters parameters{DType::float64};
  LayerNorm norm{Scope(parameters) / "norm", 4};
  Linear linear{Scope(parameters), {"linear"}, 4, 4};
  TokenEmbedding tokens{Scope(parameters) / "tokens", /*vocabulary=*/6, /*model=*/4, Initialization::Normal(1),
                        /*scores=*/true};
  Parts() { parameters.Initialize(3); }
};

// Checks a table with one row for a special token, followed by a grid of 3 rows and 5 columns.
TEST(Initialization, WavesAreCloseForNeighbors) {
  Parameters parameters{DType::float64};
  const Parameter& table =
      Scope(parameters).Declare("table", {1, 16, 42}, Initialization::Waves(/*height=*/3, /*width=*/5, 0.5));
  parameters.Initialize(1);
  const std::vector<double> values = table.value.ToVector<double>();
  const auto number = [&](int row, int column) { return values[static_cast<std::size_t>(row * 42 + column)]; };
  double first = 0, squares = 0;
  for (int column = 0; column < 42; ++column) {
    first += number(0, column) * number(0, column) / 42;
    double mean = 0;
    for (int index = 1; index < 16; ++index) {
      mean += number(index, column);
      squares += number(index, column) * number(index, column);
    }
    EXPECT_NEAR(mean, 0, 1e-12) << column;
  }
  EXPECT_NEAR(std::sqrt(first), 0.02, 0.01);
  EXPECT_NEAR(std::sqrt(squares / (15 * 42)), 0.5, 1e-12);
  const auto distance = [&](int a, int b) {
    double sum = 0;
    for (int column = 0; column < 42; ++column)
      sum += (number(1 + a, column) - number(1 + b, column)) * (number(1 + a, column) - number(1 + b, column));
    return sum;
  };
  EXPECT_LT(distance(6, 7), distance(6, 8));   // along a row
  EXPECT_LT(distance(0, 5), distance(0, 10));  // along a column
  EXPECT_NEAR(distance(6, 7), distance(11, 12), 1e-12);
  EXPECT_NEAR(distance(0, 6), distance(0, 1) + distance(0, 5), 1e-12);  // rows and columns use separate features
}

TEST(Norms, ArePostOrPre) {
  const Parts parts;
  Context context;
  const Tensor x = parts.tokens(context, std::vector<std::int32_t>{1, 5, 2});
  const auto numbers = [](const Tensor& tensor) { return tensor.ToVector<double>(); };
  const Tensor after = parts.norm(context, ops::Add(x, parts.linear(context, x)));
  const Tensor before = ops::Add(x, parts.linear(context, parts.norm(context, x)));
  EXPECT_THAT(numbers(PostNorm(context, x, parts.norm, 0.5, parts.linear)),
              Pointwise(DoubleNear(1e-12), numbers(after)));
  EXPECT_THAT(numbers(PreNorm(context, x, parts.norm, 0.5, parts.linear)),
              Pointwise(DoubleNear(1e-12), numbers(before)));
}

TEST(TokenEmbedding, TiesLookupAndScores) {
  const Parts parts;
  Context context;
  const Tensor table = parts.tokens.table().value;
  const Tensor found = parts.tokens(context, std::vector<std::int32_t>{4, 0}, /*scale=*/2);
  const Tensor scores = parts.tokens.Scores(context, found, Tensor());
  ASSERT_EQ(scores.shape(), (Shape{2, 6}));
  for (std::int64_t row = 0; row < 2; ++row)
    for (std::int64_t token = 0; token < 6; ++token) {
      double product = 0;
      for (std::int64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(found.matrix<double>().row(row)[i], 2 * table.matrix<double>().row(row == 0 ? 4 : 0)[i]);
        product += found.matrix<double>().row(row)[i] * table.matrix<double>().row(token)[i];
      }
      EXPECT_NEAR(scores.matrix<double>().row(row)[token], product, 1e-12);
    }
}

}  // namespace
}  // namespace headlight::layers_test
