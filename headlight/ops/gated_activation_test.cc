#include "headlight/ops/gated_activation.h"

#include <gmock/gmock.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/view.h"

namespace headlight::ops::gated_activation_test {
namespace {

using Inputs = std::vector<Tensor>;

constexpr Activation kActivations[] = {Activation::none,      Activation::relu, Activation::gelu,
                                       Activation::gelu_tanh, Activation::silu, Activation::quick_gelu,
                                       Activation::tanh};

TEST(GatedActivation, MultipliesActivationAndOtherHalf) {
  for (const Activation activation : kActivations)
    for (const std::int64_t ffn : {1, 5, 16, 33})
      for (const GateHalf gate : {GateHalf::first, GateHalf::second}) {
        const Tensor both = RandomTensor({7, 2 * ffn}, 1, 3);
        const std::int64_t begin = gate == GateHalf::first ? 0 : ffn;
        const Tensor composed =
            Multiply(Activate(activation, Columns(both, begin, ffn)), Columns(both, ffn - begin, ffn));
        EXPECT_EQ(GatedActivation(activation, both, gate).ToVector<double>(), composed.ToVector<double>());
      }
}

TEST(GatedActivation, Gradients) {
  for (const Activation activation : kActivations)
    for (const GateHalf gate : {GateHalf::first, GateHalf::second}) {
      const auto gated = [=](const Inputs& in) { return GatedActivation(activation, in[0], gate); };
      EXPECT_EQ(CheckGradients(gated, {RandomTensor({3, 26}, 5, 3)}), "") << static_cast<int>(activation);
    }
}

TEST(GatedActivation, RejectsAnOddNumberOfColumns) {
  EXPECT_THAT(
      [] {
        GatedActivation(Activation::silu, RandomTensor({2, 3}, 1));
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[2, 3]")));
}

}  // namespace
}  // namespace headlight::ops::gated_activation_test
