#include "headlight/ops/residual.h"

#include <gmock/gmock.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"

namespace headlight::ops::residual_test {
namespace {

using Inputs = std::vector<Tensor>;

TEST(Residual, EqualsItsComposition) {
  const Inputs in = {RandomTensor({5, 17}, 1), RandomTensor({5, 17}, 2)};
  for (const Dropout& drop : {Dropout{}, Dropout{0.3, 5}}) {
    const auto fused = [=](const Inputs& x) { return Residual(x[0], x[1], drop); };
    EXPECT_EQ(fused(in).ToVector<double>(), Add(in[0], Drop(in[1], drop)).ToVector<double>());
    EXPECT_EQ(CheckGradients(fused, in), "");
    EXPECT_EQ(CheckGradients([=](const Inputs& x) { return Residual(x[0], x[0], drop); }, {in[0]}), "");
  }
}

TEST(Residual, NamesTheShapesThatDoNotFit) {
  EXPECT_THAT(
      [] {
        Residual(RandomTensor({2, 4}, 1), RandomTensor({3}, 2));
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[3] does not fit x of shape [2, 4]")));
}

}  // namespace
}  // namespace headlight::ops::residual_test
