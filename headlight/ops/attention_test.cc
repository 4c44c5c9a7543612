#include "headlight/ops/attention.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "headlight/autograd/gradient_check.h"
#include "headlight/autograd/tape.h"
#include "headlight/ops/view.h"

namespace headlight::ops {
namespace {

const Sequences kQueries = {{0, 3}, {3, 1}, {4, 2}}, kKeys = {{0, 4}, {4, 2}, {6, 0}};

TEST(Attention, GradientsMatchFiniteDifferences) {
  const std::vector<Tensor> inputs = {RandomTensor({6, 6}, 1), RandomTensor({6, 6}, 2), RandomTensor({6, 4}, 3)};
  for (const AttentionOptions& options : {AttentionOptions{.heads = 2, .scale = 0.6},
                                          {.heads = 1, .scale = 0.4, .mask = {.causal = true}},
                                          {.heads = 2, .scale = 0.5, .mask = {.left = 1, .right = 1}},
                                          {.heads = 2, .scale = 0.5, .dropout = {0.3, 9}}}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return Attention(in[0], in[1], in[2], kQueries, kKeys, options);
    };
    EXPECT_EQ("", CheckGradients(f, inputs));
  }
}

// A score for each head and distance from key to query, [heads, 2 * farthest + 1].
template <typename T>
class RelativePositions : public kernels::AttentionBias<T> {
 public:
  RelativePositions(Tensor values, Tensor gradient) : values_(std::move(values)), gradient_(std::move(gradient)) {}

  void Add(const kernels::ScoreTile& tile, Matrix<T> scores) const override {
    const T* const table = values_.matrix<T>().row(tile.head);
    for (std::int64_t i = 0; i < scores.rows; ++i)
      for (std::int64_t j = 0; j < scores.columns; ++j) scores.row(i)[j] += table[Place(tile, i, j)];
  }
  bool has_gradient() const override { return !gradient_.empty(); }
  void AddGradient(const kernels::ScoreTile& tile, Matrix<const T> d_scores) override {
    T* const table = gradient_.matrix<T>().row(tile.head);
    for (std::int64_t i = 0; i < d_scores.rows; ++i)
      for (std::int64_t j = 0; j < d_scores.columns; ++j) table[Place(tile, i, j)] += d_scores.row(i)[j];
  }

 private:
  std::int64_t Place(const kernels::ScoreTile& tile, std::int64_t i, std::int64_t j) const {
    const std::int64_t farthest = values_.columns() / 2;
    return std::clamp(tile.key + j - (tile.query + i + tile.past), -farthest, farthest) + farthest;
  }
  Tensor values_, gradient_;
};

TEST(Attention, ABiasHasAGradient) {
  const auto f = [](const std::vector<Tensor>& in) {
    const AttentionOptions options{.heads = 2, .scale = 0.6, .bias = BiasOf<RelativePositions>(in[3])};
    return Attention(in[0], in[1], in[2], kQueries, kKeys, options);
  };
  const Tensor query = RandomTensor({6, 6}, 1), key = RandomTensor({6, 6}, 2), value = RandomTensor({6, 4}, 3);
  EXPECT_EQ("", CheckGradients(f, {query, key, value, RandomTensor({2, 5}, 4)}));
  const auto of_the_bias_alone = [&](const std::vector<Tensor>& in) { return f({query, key, value, in[0]}); };
  EXPECT_EQ("", CheckGradients(of_the_bias_alone, {RandomTensor({2, 5}, 4)}));
  // One that is far above the others takes all the weight: key 2 of query 0 is at distance 2 - (0 + 1) = 1.
  Tensor table = Tensor::Zeros({2, 5}, DType::float64);
  table.ViewColumns(3, 1).Fill(100);
  const Tensor weights = AttentionWeights(query, key, kQueries, kKeys,
                                          {.heads = 2, .scale = 0.6, .bias = BiasOf<RelativePositions>(table)}, 0);
  EXPECT_NEAR(weights.data<double>()[2], 1, 1e-12);
}

TEST(Attention, TakesColumnsOfAFusedProjection) {
  const auto f = [](const std::vector<Tensor>& in) {
    return Attention(Columns(in[0], 0, 4), Columns(in[0], 4, 4), Columns(in[0], 8, 2), kQueries, kQueries,
                     {.heads = 2, .scale = 0.7, .mask = {.causal = true}});
  };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({6, 10}, 1)}));
}

TEST(Attention, OneTensorMayBeQueryKeyAndValue) {
  const AttentionOptions options{.heads = 2, .scale = 0.7};
  const auto itself = [&](const std::vector<Tensor>& in) {
    return Attention(in[0], in[0], in[0], kQueries, kQueries, options);
  };
  EXPECT_EQ("", CheckGradients(itself, {RandomTensor({6, 4}, 1)}));
  const auto overlapping = [&](const std::vector<Tensor>& in) {
    return Attention(Columns(in[0], 0, 4), Columns(in[0], 1, 4), Columns(in[0], 4, 2), kQueries, kQueries, options);
  };
  EXPECT_EQ("", CheckGradients(overlapping, {RandomTensor({6, 6}, 1)}));
}

TEST(Attention, InputsWithoutAGradientAreLeftAlone) {
  const Tensor query = RandomTensor({6, 4}, 1), key = RandomTensor({6, 4}, 2), value = RandomTensor({6, 4}, 3);
  for (int wanted = 0; wanted < 3; ++wanted) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return Attention(wanted == 0 ? in[0] : query, wanted == 1 ? in[0] : key, wanted == 2 ? in[0] : value, kQueries,
                       kKeys, {.heads = 2, .scale = 0.6});
    };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({6, 4}, 4)}));
  }
}

TEST(Attention, WeightsAreThoseOfTheOutput) {
  const Tensor query = RandomTensor({6, 4}, 1), key = RandomTensor({6, 4}, 2);
  const AttentionOptions options{.heads = 2, .scale = 0.6};
  const Tensor weights = AttentionWeights(query, key, kQueries, kKeys, options, 0);
  EXPECT_EQ(ToString(weights.shape()), "[1, 2, 3, 4]");
  // Values that are 1 in row 2 of the keys: what comes out is that key's weight.
  Tensor value = Tensor::Zeros({6, 2}, DType::float64);
  value.ViewRows(2, 1).Fill(1);
  const Tensor y = Attention(query, key, value, kQueries, kKeys, options);
  for (std::int64_t head = 0; head < 2; ++head) {
    for (std::int64_t i = 0; i < 3; ++i)
      EXPECT_NEAR(y.matrix<double>().row(i)[head], weights.data<double>()[(head * 3 + i) * 4 + 2], 1e-14);
  }
  EXPECT_THROW(AttentionWeights(query, key, kQueries, kKeys, options, 3), Error);
}

// A softmax-weighted look-up that can be followed by hand.
TEST(Attention, LooksUp) {
  const Tensor keys = Tensor::From<double>({10, 0, 0, 0, 10, 0, 0, 0, 10, 0, 0, 10}, {4, 3});
  const Tensor values = Tensor::From<double>({1, 0, 1, 10, 0, 2, 100, 5, 0, 1000, 6, 0}, {4, 3});
  const Tensor queries = Tensor::From<double>({0, 10, 0, 0, 0, 10, 10, 10, 0}, {3, 3});
  const std::vector<double> expected = {10, 0, 2, 550, 5.5, 0, 5.5, 0, 1.5};
  const Tensor y = Attention(queries, keys, values, {{0, 3}}, {{0, 4}}, {});
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(y.data<double>()[i], expected[i], 1e-9);
}

}  // namespace
}  // namespace headlight::ops
