#include "headlight/ops/projection_cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headlight/autograd/gradient_check.h"
#include "headlight/autograd/tape.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/soft_cap.h"

namespace headlight::ops::projection_cross_entropy_test {
namespace {

TEST(ProjectionCrossEntropy, GradientsMatchFiniteDifferences) {
  const std::vector<std::int32_t> labels = {2, -1, 0, 4};
  for (const double smoothing : {0.0, 0.1}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return ProjectionCrossEntropy(in[0], Weight{in[1]}, RandomTensor({5}, 9), labels, smoothing, 0.3);
    };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({4, 3}, 1), RandomTensor({5, 3}, 2)}));
  }
}

TEST(ProjectionCrossEntropy, GradientsOfTwoPassesMatchFiniteDifferences) {
  const std::vector<std::int32_t> labels = {2, -1, 0, 4};
  for (const double smoothing : {0.0, 0.1}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return ProjectionCrossEntropy(in[0], Weight{in[1]}, RandomTensor({5}, 9), labels, smoothing, 0.3, 3);
    };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({8, 3}, 1), RandomTensor({5, 3}, 2)}));
  }
}

TEST(ProjectionCrossEntropy, CapsLogits) {
  const std::vector<std::int32_t> labels = {2, -1, 0, 4};
  const Tensor x = RandomTensor({4, 3}, 1), w = RandomTensor({5, 3}, 2), bias = RandomTensor({5}, 9);
  for (const double cap : {0.7, 5.0}) {
    for (const double r_drop : {0.0, 3.0}) {
      const auto f = [&](const std::vector<Tensor>& in) {
        return ProjectionCrossEntropy(in[0], Weight{in[1]}, bias, labels, 0.1, 0.3, r_drop, cap);
      };
      EXPECT_EQ("", CheckGradients(f, {RandomTensor({r_drop > 0 ? 8 : 4, 3}, 1), w}));
    }
    // Compares the loss with the result of separate operations, for more rows than a block holds.
    const Tensor many = RandomTensor({600, 3}, 3);
    std::vector<std::int32_t> classes(600);
    for (std::size_t row = 0; row < classes.size(); ++row) classes[row] = static_cast<std::int32_t>(row % 6) - 1;
    const double apart = CrossEntropy(SoftCap(Linear(many, Weight{w}, bias), cap), classes, 0.3).data<double>()[0];
    EXPECT_NEAR(ProjectionCrossEntropy(many, Weight{w}, bias, classes, 0, 0.3, 0, cap).data<double>()[0], apart,
                1e-9 * apart);
  }
}

// Checks that two equal passes have the loss of one pass. If passes differ, the divergence of their predictions must be
// added.
TEST(ProjectionCrossEntropy, AddsTheDivergenceOfTwoPasses) {
  constexpr std::int64_t rows = 300, vocab = 7;
  const Tensor x = RandomTensor({2 * rows, 4}, 1), w = RandomTensor({vocab, 4}, 2);
  std::vector<std::int32_t> labels(rows);
  for (std::size_t row = 0; row < labels.size(); ++row) labels[row] = static_cast<std::int32_t>(row % 8) - 1;
  std::vector<std::int32_t> both = labels;
  both.insert(both.end(), labels.begin(), labels.end());
  const auto predictions = [&](std::int64_t row) {
    std::vector<double> weights(vocab);
    double sum = 0;
    for (std::int64_t word = 0; word < vocab; ++word) {
      double score = 0;
      for (std::int64_t i = 0; i < 4; ++i) score += x.matrix<double>().row(row)[i] * w.matrix<double>().row(word)[i];
      sum += weights[static_cast<std::size_t>(word)] = std::exp(score);
    }
    for (double& weight : weights) weight /= sum;
    return weights;
  };
  double divergence = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (labels[static_cast<std::size_t>(row)] < 0) continue;
    const std::vector<double> p = predictions(row), q = predictions(rows + row);
    for (std::size_t word = 0; word < p.size(); ++word) divergence += (p[word] - q[word]) * std::log(p[word] / q[word]);
  }
  const double plain = ProjectionCrossEntropy(x, Weight{w}, {}, both, 0.1, 0.5).data<double>()[0];
  const double found = ProjectionCrossEntropy(x, Weight{w}, {}, labels, 0.1, 0.5, 3).data<double>()[0];
  EXPECT_NEAR(found, plain / 2 + 0.5 * 3 / 4.0 * divergence, 1e-9 * found);
}

TEST(ProjectionCrossEntropy, GradientsInsideAFunction) {
  const std::vector<std::int32_t> labels = {2, -1, 0, 4}, others = {1, 3, 3, 0};
  const auto f = [&](const std::vector<Tensor>& in) {
    const Tensor loss = ProjectionCrossEntropy(in[0], Weight{in[1]}, {}, labels, 0.1, 0.3);
    return Add(Multiply(loss, loss), Scale(ProjectionCrossEntropy(in[0], Weight{in[1]}, {}, others, 0, 1), -0.7));
  };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({4, 3}, 1), RandomTensor({5, 3}, 2)}));
}

TEST(ProjectionCrossEntropy, AddsNoGradientIfItIsNotPartOfTheLoss) {
  Tape tape;
  const Tensor x = tape.Watch(RandomTensor({1, 3}, 1)), w = tape.Watch(RandomTensor({5, 3}, 2));
  const std::vector<std::int32_t> labels = {2};
  ProjectionCrossEntropy(x, Weight{w}, {}, labels, 0, 1);
  tape.Backward(Sum(x));
  EXPECT_EQ(tape.GradientOf(w).ToVector<double>(), std::vector<double>(15));
}

// Compares the loss with its definition, computed on all logits at once. The rows fill several blocks.
TEST(ProjectionCrossEntropy, MatchesTheDefinition) {
  constexpr std::int64_t rows = 600, model = 4, vocab = 7;
  const Tensor x = RandomTensor({rows, model}, 1), w = RandomTensor({vocab, model}, 2);
  std::vector<std::int32_t> labels(rows);
  double expected = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    labels[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(row % 8) - 1;
    if (row % 8 == 0) continue;
    double sum = 0, mean = 0, of_label = 0;
    for (std::int64_t word = 0; word < vocab; ++word) {
      double score = 0;
      for (std::int64_t i = 0; i < model; ++i)
        score += x.matrix<double>().row(row)[i] * w.matrix<double>().row(word)[i];
      sum += std::exp(score);
      mean += score / vocab;
      if (word == row % 8 - 1) of_label = score;
    }
    expected += std::log(sum) - 0.9 * of_label - 0.1 * mean;
  }
  const Tensor loss = ProjectionCrossEntropy(x, Weight{w}, {}, labels, 0.1, 0.5);
  EXPECT_NEAR(loss.data<double>()[0], 0.5 * expected, 1e-9 * expected);
}

TEST(ProjectionCrossEntropy, RejectsShapesThatDoNotFit) {
  const std::vector<std::int32_t> too_large = {5, 0}, too_few = {0};
  const Tensor x = Tensor::Zeros({2, 3}), w = Tensor::Zeros({5, 3});
  EXPECT_THROW(ProjectionCrossEntropy(x, Weight{w}, {}, too_large, 0, 1), Error);
  EXPECT_THROW(ProjectionCrossEntropy(x, Weight{w}, {}, too_few, 0, 1), Error);
}

}  // namespace
}  // namespace headlight::ops::projection_cross_entropy_test
