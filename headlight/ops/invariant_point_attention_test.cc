#include "headlight/ops/invariant_point_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::invariant_point_attention_test {
namespace {

constexpr InvariantPointShape kShape = {.heads = 2, .head_dim = 3, .query_points = 2, .value_points = 3};
constexpr std::int64_t kResidues = 4, kPair = 2;

std::vector<Tensor> Inputs() {
  auto random = [seed = std::uint64_t{0}](const Shape& shape) mutable { return RandomTensor(shape, ++seed); };
  return {random({kResidues, 6}),
          random({kResidues, 12}),
          random({kResidues, 12}),
          random({kResidues, 30}),
          random({kResidues * kResidues, 2}),
          random({2}),
          random({kResidues * kResidues, kPair})};
}

Tensor Attend(const std::vector<Tensor>& in) {
  return InvariantPointAttention({in[0], in[1], in[2], in[3], in[4], in[5], in[6]}, kShape);
}

TEST(InvariantPointAttention, MatchesTheDefinition) {
  const std::vector<Tensor> in = Inputs();
  const Tensor y = Attend(in);
  const auto at = [](const Tensor& x, std::int64_t row, std::int64_t column) {
    return x.matrix<double>().row(row)[column];
  };
  for (std::int64_t h = 0; h < kShape.heads; ++h) {
    for (std::int64_t i = 0; i < kResidues; ++i) {
      std::vector<double> weights(kResidues);
      double sum = 0;
      for (std::int64_t j = 0; j < kResidues; ++j) {
        double score = std::sqrt(1.0 / 3) * at(in[4], i * kResidues + j, h), distances = 0;
        for (std::int64_t c = 0; c < 3; ++c) score += at(in[0], i, 3 * h + c) * at(in[1], j, 6 * h + c) / 3;
        for (std::int64_t p = 0; p < 2; ++p)
          for (std::int64_t axis = 0; axis < 3; ++axis)
            distances += std::pow(at(in[2], i, axis * 4 + 2 * h + p) - at(in[3], j, axis * 10 + 5 * h + p), 2);
        sum += weights[static_cast<std::size_t>(j)] = std::exp(score - in[5].data<double>()[h] / 2 * distances);
      }
      const auto mean = [&](const auto& value) {
        double total = 0;
        for (std::int64_t j = 0; j < kResidues; ++j) total += weights[static_cast<std::size_t>(j)] / sum * value(j);
        return total;
      };
      for (std::int64_t c = 0; c < 3; ++c)
        EXPECT_NEAR(at(y, i, 3 * h + c), mean([&](std::int64_t j) { return at(in[1], j, 6 * h + 3 + c); }), 1e-12);
      for (std::int64_t axis = 0; axis < 3; ++axis)
        for (std::int64_t p = 0; p < 3; ++p)
          EXPECT_NEAR(at(y, i, 6 + axis * 6 + 3 * h + p),
                      mean([&](std::int64_t j) { return at(in[3], j, axis * 10 + 5 * h + 2 + p); }), 1e-12);
      for (std::int64_t c = 0; c < kPair; ++c)
        EXPECT_NEAR(at(y, i, 24 + 2 * h + c), mean([&](std::int64_t j) { return at(in[6], i * kResidues + j, c); }),
                    1e-12);
    }
  }
}

// The pair features are a one-hot encoding of the second residue, so the sums over pairs are the weights.
TEST(InvariantPointAttention, AgreesWithItsWeights) {
  std::vector<Tensor> in = Inputs();
  in[6] = Tensor::Zeros({kResidues * kResidues, kResidues}, DType::float64);
  for (std::int64_t i = 0; i < kResidues * kResidues; ++i) in[6].matrix<double>().row(i)[i % kResidues] = 1;
  const Tensor y = Attend(in);
  const Tensor weights = InvariantPointWeights({in[0], in[1], in[2], in[3], in[4], in[5], in[6]}, kShape);
  ASSERT_EQ(weights.shape(), (Shape{1, kShape.heads, kResidues, kResidues}));
  for (std::int64_t h = 0; h < kShape.heads; ++h)
    for (std::int64_t i = 0; i < kResidues; ++i)
      for (std::int64_t j = 0; j < kResidues; ++j)
        EXPECT_NEAR(weights.data<double>()[(h * kResidues + i) * kResidues + j],
                    y.matrix<double>().row(i)[kShape.heads * (3 + 9) + h * kResidues + j], 1e-12);
}

TEST(InvariantPointAttention, Gradients) { EXPECT_EQ("", CheckGradients(Attend, Inputs())); }

TEST(InvariantPointAttention, RejectsOtherShapes) {
  for (std::size_t i = 1; i < 7; ++i) {
    std::vector<Tensor> in = Inputs();
    in[i] = RandomTensor({3, 5}, 1);
    EXPECT_THROW(Attend(in), Error) << i;
  }
}

}  // namespace
}  // namespace headlight::ops::invariant_point_attention_test
