#include "headlight/train/objectives/teacher_forcing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/autograd/tape.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/projection_cross_entropy.h"

namespace headlight::teacher_forcing_test {
namespace {

const std::vector<std::int32_t> kLabels = {2, -1, 0, 4};  // -1: no label

// Checks that a trained bias, for which the logits are materialized, gives the same loss and gradients.
TEST(OutputLoss, IsTheSameForATrainedBias) {
  const Tensor x = RandomTensor({4, 3}, 1), w = RandomTensor({5, 3}, 2), bias = RandomTensor({5}, 3);
  for (const double smoothing : {0.0, 0.1}) {
    for (const double cap : {0.0, 0.7}) {
      const auto loss = [&](const std::vector<Tensor>& in) {
        return OutputLoss(in[0], ops::Weight{in[1]}, in[2], kLabels, smoothing, 0.3, 0, cap);
      };
      Tape tape;
      EXPECT_NEAR(loss({x, w, tape.Watch(bias)}).data<double>()[0], loss({x, w, bias}).data<double>()[0], 1e-12);
      EXPECT_EQ("", CheckGradients(loss, {x, w, bias}));
    }
  }
}

TEST(OutputLoss, AddsTheDivergenceOfTwoPasses) {
  const Tensor x = RandomTensor({8, 3}, 1), w = RandomTensor({5, 3}, 2), bias = RandomTensor({5}, 3);
  EXPECT_EQ(OutputLoss(x, ops::Weight{w}, bias, kLabels, 0.1, 0.3, 3).data<double>()[0],
            ops::ProjectionCrossEntropy(x, ops::Weight{w}, bias, kLabels, 0.1, 0.3, 3).data<double>()[0]);
  Tape tape;
  const Tensor trained = tape.Watch(bias);
  EXPECT_NE(ErrorOf([&] { OutputLoss(x, ops::Weight{w}, trained, kLabels, 0, 0.3, 3); }), "");
}

}  // namespace
}  // namespace headlight::teacher_forcing_test
