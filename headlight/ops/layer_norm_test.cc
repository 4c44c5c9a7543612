#include "headlight/ops/layer_norm.h"

#include <gmock/gmock.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"

namespace headlight::ops::layer_norm_test {
namespace {

using Inputs = std::vector<Tensor>;

const Dropout dropout{0.3, 5};

TEST(LayerNorm, WorkedExample) {
  const Tensor y = LayerNorm(Tensor::From<float>({-2.3F, 1.9F, 2.7F, -3.4F}, {1, 4}),
                             Tensor::From<float>({1, 1, 1, 1}, {4}), Tensor::From<float>({0, 0, 0, 0}, {4}));
  EXPECT_THAT(y.ToVector<float>(), testing::Pointwise(testing::FloatNear(0.006F), {-0.77F, 0.83F, 1.13F, -1.19F}));
}

TEST(LayerNorm, Gradients) {
  const Inputs inputs = {RandomTensor({2, 3, 9}, 1), RandomTensor({9}, 2), RandomTensor({9}, 3)};
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return LayerNorm(in[0], in[1], in[2]); }, inputs), "");
}

TEST(ResidualLayerNorm, EqualsItsComposition) {
  const Inputs in = {RandomTensor({5, 17}, 1), RandomTensor({5, 17}, 2), RandomTensor({17}, 3), RandomTensor({17}, 4)};
  const auto fused = [](const Inputs& x) { return ResidualLayerNorm(x[0], x[1], dropout, x[2], x[3]); };
  const auto twin = [](const Inputs& x) { return LayerNorm(Add(x[0], Drop(x[1], dropout)), x[2], x[3]); };
  EXPECT_EQ(fused(in).ToVector<double>(), twin(in).ToVector<double>());
  EXPECT_EQ(CheckGradients(fused, in), "");
  EXPECT_EQ(CheckGradients(twin, in), "");
}

TEST(ResidualLayerNorm, GradientsWithoutDropoutAndWithFrozenGain) {
  const Tensor gain = RandomTensor({6}, 3), bias = RandomTensor({6}, 4);
  EXPECT_EQ(CheckGradients([&](const Inputs& in) { return ResidualLayerNorm(in[0], in[1], {}, gain, bias); },
                           {RandomTensor({4, 6}, 1), RandomTensor({4, 6}, 2)}),
            "");
  // x is also the input of the sublayer, as in a model.
  EXPECT_EQ(
      CheckGradients([&](const Inputs& in) { return ResidualLayerNorm(in[0], Scale(in[0], 0.3), {}, gain, bias); },
                     {RandomTensor({4, 6}, 1)}),
      "");
}

TEST(LayerNorm, NamesTheShapesThatDoNotFit) {
  const Tensor x = RandomTensor({2, 4}, 1), gain = RandomTensor({3}, 2), good = RandomTensor({4}, 3);
  EXPECT_THAT([&] { LayerNorm(x, gain, gain); }, testing::ThrowsMessage<Error>(testing::HasSubstr("[3]")));
  EXPECT_THAT([&] { ResidualLayerNorm(x, gain, {}, good, good); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("sublayer of shape [3]")));
}

}  // namespace
}  // namespace headlight::ops::layer_norm_test
