#include "headlight/ops/head_layer_norm.h"

#include <gmock/gmock.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/layer_norm.h"
#include "headlight/ops/view.h"

namespace headlight::ops::head_layer_norm_test {
namespace {

using Inputs = std::vector<Tensor>;

TEST(HeadLayerNorm, NormsEachHeadWithItsOwnGain) {
  const Tensor wide = RandomTensor({5, 8}, 1), gains = RandomTensor({6}, 2);
  const Tensor y = HeadLayerNorm(Columns(wide, 0, 6), gains, 3, 1e-3);
  for (const std::int64_t column : {0, 3}) {
    const Tensor gain = gains.ViewAs({1, 6}).ViewColumns(column, 3).Clone().ViewAs({3});
    const Tensor expected =
        LayerNorm(wide.ViewColumns(column, 3).Clone(), gain, Tensor::Zeros({3}, wide.dtype()), 1e-3);
    EXPECT_EQ(y.ViewColumns(column, 3).Clone().ToVector<double>(), expected.ToVector<double>());
  }
}

TEST(HeadLayerNorm, Gradients) {
  const auto f = [](const Inputs& in) { return HeadLayerNorm(Columns(in[0], 1, 9), in[1], 3, 1e-3); };
  EXPECT_EQ(CheckGradients(f, {RandomTensor({4, 11}, 1), RandomTensor({9}, 2)}), "");
}

TEST(HeadLayerNorm, NamesTheShapesThatDoNotFit) {
  EXPECT_THAT(
      [] {
        HeadLayerNorm(RandomTensor({2, 9}, 1), RandomTensor({9}, 2), 2, 1e-3);
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[2, 9]")));
}

}  // namespace
}  // namespace headlight::ops::head_layer_norm_test
