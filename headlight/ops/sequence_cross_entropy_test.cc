#include "headlight/ops/sequence_cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::ops::sequence_cross_entropy_test {
namespace {

TEST(SequenceCrossEntropy, IsTheLogSoftmaxOfAColumnOfASequence) {
  const Tensor scores = RandomTensor({5, 2}, 1, 4);
  const std::vector<double> x = scores.ToVector<double>();
  // The second sequence consists of rows 2, 3 and 4. Its second column is ignored.
  const double all = std::exp(x[4]) + std::exp(x[6]) + std::exp(x[8]);
  const double first = std::exp(x[0]) + std::exp(x[2]), second = std::exp(x[1]) + std::exp(x[3]);
  const double expected = -(x[8] - std::log(all)) - (x[0] - std::log(first)) - (x[3] - std::log(second));
  const std::vector<std::int32_t> labels = {0, 1, 2, -1};
  EXPECT_NEAR(SequenceCrossEntropy(scores, {{0, 2}, {2, 3}}, labels, 0.5).ToVector<double>()[0], 0.5 * expected, 1e-12);
}

TEST(SequenceCrossEntropy, Gradients) {
  const std::vector<std::int32_t> labels = {3, 0, -1, 1};
  EXPECT_EQ(CheckGradients(
                [&](const auto& inputs) {
                  return SequenceCrossEntropy(inputs[0], {{1, 4}, {5, 2}}, labels, 0.25);
                },
                {RandomTensor({8, 2}, 2, 3)}),
            "");
}

TEST(SequenceCrossEntropy, GradientsInsideAFunction) {
  const std::vector<std::int32_t> labels = {3, 0, -1, 1};
  const auto f = [&](const std::vector<Tensor>& in) {
    const Tensor loss = SequenceCrossEntropy(in[0], {{1, 4}, {5, 2}}, labels, 0.25);
    return Add(Multiply(loss, loss), Scale(SequenceCrossEntropy(in[0], {{0, 4}, {4, 4}}, labels, 1), 0.3));
  };
  EXPECT_EQ(CheckGradients(f, {RandomTensor({8, 2}, 2, 3)}), "");
}

TEST(SequenceCrossEntropy, RejectsShapesThatDoNotFit) {
  const Tensor scores = RandomTensor({4, 2}, 3, 1);
  const auto refused = [&](const Sequences& sequences, const std::vector<std::int32_t>& labels) {
    return ErrorOf([&] { SequenceCrossEntropy(scores, sequences, labels, 1); });
  };
  EXPECT_THAT(refused({{0, 4}}, {0}), testing::HasSubstr("do not fit 1 labels"));
  EXPECT_THAT(refused({{2, 3}}, {0, 0}), testing::HasSubstr("rows 2 to 5 of 4"));
  EXPECT_NE(refused({{0, 3}}, {0, 3}), "");
}

}  // namespace
}  // namespace headlight::ops::sequence_cross_entropy_test
