#include "headlight/nn/linear_biases.h"

#include <gmock/gmock.h>

namespace headlight::linear_biases_test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

// Compares the slopes with the paper's example for eight heads, and with the authors' code for other numbers of heads.
TEST(LinearBiasSlopes, ArePowersOfTwoOfTheHead) {
  EXPECT_THAT(LinearBiasSlopes(1), ElementsAre(1 / 256.0f));
  EXPECT_THAT(LinearBiasSlopes(8),
              ElementsAre(0.5f, 0.25f, 0.125f, 0.0625f, 0.03125f, 0.015625f, 0.0078125f, 0.00390625f));
  EXPECT_THAT(LinearBiasSlopes(5), ElementsAre(0.25f, 0.0625f, 0.015625f, 0.00390625f, 0.5f));
  const std::vector<float> twelve = LinearBiasSlopes(12);
  EXPECT_THAT(std::vector(twelve.begin() + 8, twelve.end()),
              ElementsAre(FloatEq(0.70710677f), FloatEq(0.35355338f), FloatEq(0.17677669f), FloatEq(0.088388346f)));
}

TEST(LinearBiases, GrowWithTheKeysPosition) {
  const ops::AttentionBias bias =
      LinearBiases({.heads = 2, .factor = 3}, {{0, 2}, {2, 1}}, std::vector<std::int32_t>{0, 3}, DType::float64);
  const std::vector<double> slopes = {1 / 16.0, 1 / 256.0};
  ASSERT_EQ(ToString(bias.values.shape()), "[2, 4]");
  for (int head = 0; head < 2; ++head)
    for (int key = 0; key < 4; ++key)
      EXPECT_EQ(bias.values.matrix<double>().row(head)[key], 3 * slopes[static_cast<std::size_t>(head)] * key);
}

// Compares the biases with the biases of Falcon in Transformers.
TEST(LinearBiases, RoundToBfloat16) {
  const ops::AttentionBias bias = LinearBiases({.heads = 3, .rounded = true}, {{0, 1200}}, {}, DType::float32);
  std::vector<float> values;
  for (const int key : {1, 200, 257, 259, 1199}) values.push_back(bias.values.matrix<float>().row(1)[key]);
  EXPECT_THAT(values, ElementsAre(0.00390625f, 0.78125f, 1.0f, 1.015625f, 4.6875f));
}

}  // namespace
}  // namespace headlight::linear_biases_test
