#include "headlight/ops/attention.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/autograd/tape.h"
#include "headlight/ops/view.h"

namespace headlight::ops::attention_test {
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

std::shared_ptr<const std::vector<std::int32_t>> Index(std::vector<std::int32_t> places) {
  return std::make_shared<const std::vector<std::int32_t>>(std::move(places));
}

TEST(Attention, BiasGradientsMatchFiniteDifferences) {
  const Tensor query = RandomTensor({6, 6}, 1), key = RandomTensor({6, 6}, 2), value = RandomTensor({6, 4}, 3);
  const auto begin = std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{0, 12, 14});
  struct {
    Shape shape;
    AttentionBias bias;
  } const cases[] = {
      {{2, 5}, {.heads_first = true, .by = kernels::BiasIndexing::distances, .index = Index({0, 1, 2, 3, 4})}},
      {{4, 2}, {.by = kernels::BiasIndexing::distances, .index = Index({3, 1, 1, 0, 2})}},
      {{3, 2},
       {.by = kernels::BiasIndexing::table,
        .index = Index({0, 1, 2, 2, 1, 0, 0, 0, 1, 2, 2, 1, 0, 2}),
        .begin = begin}},
      {{2, 5}, {.heads_first = true, .by = kernels::BiasIndexing::keys}},
      {{4, 2}, {.by = kernels::BiasIndexing::keys}},
      {{2, 14}, {.heads_first = true, .begin = begin}},
      {{14, 2}, {.begin = begin}},
  };
  for (const auto& c : cases) {
    const auto f = [&](const std::vector<Tensor>& in) {
      AttentionOptions options{.heads = 2, .scale = 0.6, .bias = c.bias};
      options.bias.values = in[3];
      return Attention(in[0], in[1], in[2], kQueries, kKeys, options);
    };
    EXPECT_EQ("", CheckGradients(f, {query, key, value, RandomTensor(c.shape, 4)}));
    const auto of_the_bias_alone = [&](const std::vector<Tensor>& in) { return f({query, key, value, in[0]}); };
    EXPECT_EQ("", CheckGradients(of_the_bias_alone, {RandomTensor(c.shape, 4)}));
  }
  // Pairs are shared by all sequences, in a tensor of rank 3.
  const Sequences sequences = {{0, 2}, {2, 2}, {4, 2}};
  for (const bool heads_first : {false, true}) {
    const auto shared = [&](const std::vector<Tensor>& in) {
      return Attention(query, key, value, sequences, sequences,
                       {.heads = 2, .scale = 0.6, .bias = {.values = in[0], .heads_first = heads_first}});
    };
    EXPECT_EQ("", CheckGradients(shared, {RandomTensor({2, 2, 2}, 4)}));
  }
  // The key with the large bias receives all the weight. Key 2 of query 0 is at distance 2 - (0 + 1) = 1.
  AttentionOptions options{.heads = 2, .scale = 0.6, .bias = cases[0].bias};
  options.bias.values = Tensor::Zeros({2, 5}, DType::float64);
  options.bias.values.ViewColumns(3, 1).Fill(100);
  EXPECT_NEAR(AttentionWeights(query, key, kQueries, kKeys, options, 0).data<double>()[2], 1, 1e-12);
}

// Checks gradients with two query heads per key head, on the columns of a grid of 3 rows and 2 columns.
TEST(Attention, KeyHeadsAndGridsHaveGradients) {
  const Tensor query = RandomTensor({6, 8}, 1), key = RandomTensor({6, 4}, 2), value = RandomTensor({6, 2}, 3);
  const Sequences columns = GridColumns(1, 3, 2);
  EXPECT_EQ(columns, (Sequences{{0, 3, 2}, {1, 3, 2}}));
  const auto f = [&](const std::vector<Tensor>& in) {
    return Attention(in[0], in[1], in[2], columns, columns, {.heads = 4, .key_heads = 2, .scale = 0.6});
  };
  EXPECT_EQ("", CheckGradients(f, {query, key, value}));
  EXPECT_EQ(ToString(f({query, key, value}).shape()), "[6, 4]");
  // The result must equal attention with each key head repeated.
  const auto twice = [](const Tensor& x, std::int64_t dim) {
    const Tensor y = Tensor::Empty({6, 4 * dim}, DType::float64);
    for (std::int64_t head = 0; head < 4; ++head)
      y.ViewColumns(head * dim, dim).CopyFrom(x.ViewColumns(head / 2 * dim, dim));
    return y;
  };
  EXPECT_EQ(f({query, key, value}).ToVector<double>(),
            Attention(query, twice(key, 2), twice(value, 1), columns, columns, {.heads = 4, .scale = 0.6})
                .ToVector<double>());
}

TEST(Attention, AcceptsColumnsOfAFusedProjection) {
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

TEST(Attention, GradientsOfSingleInputsMatchFiniteDifferences) {
  const Tensor query = RandomTensor({6, 4}, 1), key = RandomTensor({6, 4}, 2), value = RandomTensor({6, 4}, 3);
  for (int wanted = 0; wanted < 3; ++wanted) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return Attention(wanted == 0 ? in[0] : query, wanted == 1 ? in[0] : key, wanted == 2 ? in[0] : value, kQueries,
                       kKeys, {.heads = 2, .scale = 0.6});
    };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({6, 4}, 4)}));
  }
}

TEST(Attention, WeightsReproduceTheOutput) {
  const Tensor query = RandomTensor({6, 4}, 1), key = RandomTensor({6, 4}, 2);
  const AttentionOptions options{.heads = 2, .scale = 0.6};
  const Tensor weights = AttentionWeights(query, key, kQueries, kKeys, options, 0);
  EXPECT_EQ(ToString(weights.shape()), "[1, 2, 3, 4]");
  // The values are 1 only in key row 2, so the output is the weight of that key.
  Tensor value = Tensor::Zeros({6, 2}, DType::float64);
  value.ViewRows(2, 1).Fill(1);
  const Tensor y = Attention(query, key, value, kQueries, kKeys, options);
  for (std::int64_t head = 0; head < 2; ++head) {
    for (std::int64_t i = 0; i < 3; ++i)
      EXPECT_NEAR(y.matrix<double>().row(i)[head], weights.data<double>()[(head * 3 + i) * 4 + 2], 1e-14);
  }
  EXPECT_THROW(AttentionWeights(query, key, kQueries, kKeys, options, 3), Error);
}

// Checks a softmax-weighted lookup that can be computed by hand.
TEST(Attention, LooksUp) {
  const Tensor keys = Tensor::From<double>({10, 0, 0, 0, 10, 0, 0, 0, 10, 0, 0, 10}, {4, 3});
  const Tensor values = Tensor::From<double>({1, 0, 1, 10, 0, 2, 100, 5, 0, 1000, 6, 0}, {4, 3});
  const Tensor queries = Tensor::From<double>({0, 10, 0, 0, 0, 10, 10, 10, 0}, {3, 3});
  const std::vector<double> expected = {10, 0, 2, 550, 5.5, 0, 5.5, 0, 1.5};
  const Tensor y = Attention(queries, keys, values, {{0, 3}}, {{0, 4}}, {});
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(y.data<double>()[i], expected[i], 1e-9);
}

}  // namespace
}  // namespace headlight::ops::attention_test
