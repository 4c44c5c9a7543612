#include "headlight/ops/dropout.h"

#include <gmock/gmock.h>

#include <limits>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::dropout_test {
namespace {

TEST(Drop, ZeroesOrScales) {
  const Tensor x = RandomTensor({20, 30}, 1);
  const std::vector<double> before = x.ToVector<double>(), after = Drop(x, {0.25, 7}).ToVector<double>();
  int dropped = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    dropped += after[i] == 0;
    EXPECT_DOUBLE_EQ(after[i], after[i] == 0 ? 0 : before[i] / 0.75);
  }
  EXPECT_NEAR(dropped / 600.0, 0.25, 0.06);
  EXPECT_EQ(Drop(x, {0.25, 7}).ToVector<double>(), after) << "the same seed drops the same elements";
  EXPECT_NE(Drop(x, {0.25, 8}).ToVector<double>(), after);
  EXPECT_EQ(Drop(x, {}).ToVector<double>(), before);
}

TEST(Drop, Gradients) {
  for (const double probability : {0.0, 0.4}) {
    EXPECT_EQ(CheckGradients(
                  [=](const auto& inputs) {
                    return Drop(inputs[0], {probability, 3});
                  },
                  {RandomTensor({3, 11}, 1)}),
              "");
  }
}

TEST(Drop, RejectsProbabilitiesOutOfRange) {
  for (const double probability : {1.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(
        [=] {
          Drop(RandomTensor({2}, 1), {probability, 1});
        },
        testing::ThrowsMessage<Error>(testing::HasSubstr("at least 0 and below 1")));
  }
}

}  // namespace
}  // namespace headlight::ops::dropout_test
