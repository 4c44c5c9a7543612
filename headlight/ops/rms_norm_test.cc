#include "headlight/ops/rms_norm.h"

#include <gmock/gmock.h>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::rms_norm_test {
namespace {

using Inputs = std::vector<Tensor>;

TEST(RmsNorm, WorkedExample) {
  // The mean square is (9 + 16) / 2 = 12.5.
  const Tensor y = RmsNorm(Tensor::From<float>({3, -4}, {1, 2}), Tensor::From<float>({1, 2}, {2}));
  EXPECT_THAT(y.ToVector<float>(), testing::Pointwise(testing::FloatNear(1e-4F), {0.8485F, -2.2627F}));
}

TEST(RmsNorm, Gradients) {
  const auto f = [](const Inputs& in) { return RmsNorm(in[0], in[1]); };
  EXPECT_EQ(CheckGradients(f, {RandomTensor({2, 3, 9}, 1), RandomTensor({9}, 2)}), "");
  const Tensor gain = RandomTensor({9}, 2);  // without gradient
  EXPECT_EQ(CheckGradients([&](const Inputs& in) { return RmsNorm(in[0], gain); }, {RandomTensor({4, 9}, 1)}), "");
}

TEST(UnitRows, HaveLengthOneAndGradients) {
  const Tensor y = UnitRows(Tensor::From<float>({3, 4, 0, 0, -5, 12}, {3, 2}));
  EXPECT_THAT(y.ToVector<float>(),
              testing::Pointwise(testing::FloatNear(1e-6F), {0.6F, 0.8F, 0.F, 0.F, -5 / 13.F, 12 / 13.F}));
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return UnitRows(in[0]); }, {RandomTensor({3, 7}, 1)}), "");
}

TEST(RmsNorm, NamesTheShapesThatDoNotFit) {
  EXPECT_THAT(
      [] {
        RmsNorm(RandomTensor({2, 4}, 1), RandomTensor({3}, 2));
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[3]")));
}

}  // namespace
}  // namespace headlight::ops::rms_norm_test
