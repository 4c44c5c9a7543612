#include "headlight/nn/attention.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::attention_test {
namespace {

// Values that hooks receive.
struct Received {
  std::vector<std::vector<double>> weights, queries, keys, gradients;
};

Received Attended(std::int32_t key_heads, const Tensor& query, const Tensor& key, const Tensor& value) {
  Tape tape;
  Context context;
  context.tape = &tape;
  Received received;
  context.hooks.attention = [&](const LayerAttention& seen) {
    received.weights.push_back(seen.weights.ToVector<double>());
    received.queries.push_back(seen.query.Clone().ToVector<double>());
    received.keys.push_back(seen.key.Clone().ToVector<double>());
  };
  context.hooks.attention_gradient = [&](const LayerAttention&, const Tensor& gradient) {
    received.gradients.push_back(gradient.ToVector<double>());
  };
  const ScaledDotProductAttention attention{.heads = 4, .mask = {.causal = true}, .key_heads = key_heads};
  const Sequences texts = {{0, 2}, {2, 3}};
  const Tensor attended =
      attention.Attend(context, {AttentionKind::decoder_self, 1}, tape.Watch(query), key, value, texts, texts);
  tape.Backward(ops::Sum(ops::Multiply(attended, RandomTensor(attended.shape(), 4))));
  return received;
}

TEST(ScaledDotProductAttention, ReportsGroupedHeadsAsSeparateHeads) {
  const Tensor query = RandomTensor({5, 12}, 1), key = RandomTensor({5, 6}, 2), value = RandomTensor({5, 6}, 3);
  const auto for_each = [](const Tensor& grouped) {
    const Tensor all = Tensor::Empty({5, 12}, grouped.dtype());
    for (std::int64_t head = 0; head < 4; ++head)
      all.ViewColumns(3 * head, 3).CopyFrom(grouped.ViewColumns(head / 2 * 3, 3));
    return all;
  };
  const Received grouped = Attended(2, query, key, value), all = Attended(0, query, for_each(key), for_each(value));
  ASSERT_EQ(grouped.weights.size(), 2U);
  EXPECT_EQ(grouped.weights, all.weights);
  EXPECT_EQ(grouped.queries, all.queries);
  EXPECT_EQ(grouped.keys, all.keys);
  ASSERT_EQ(grouped.gradients.size(), 2U);
  EXPECT_EQ(grouped.gradients, all.gradients);
}

// Checks the attention of one token to itself and earlier tokens against the definition, computed in double precision.
TEST(ScaledDotProductAttention, CapsScores) {
  const Tensor query = RandomTensor({5, 12}, 1, 3), key = RandomTensor({5, 6}, 2, 3), value = RandomTensor({5, 6}, 3);
  const ScaledDotProductAttention attention{
      .heads = 4, .mask = {.causal = true}, .scale = 0.5, .score_cap = 0.7, .key_heads = 2};
  const Sequences text = {{0, 5}};
  const auto at = [](const Tensor& x, std::int64_t row, std::int64_t column) {
    return x.matrix<double>().row(row)[column];
  };
  Context context;
  const Tensor attended = attention(context, query, key, value, text, text);
  const std::vector<double> weights = attention.Weights(query, key, text, text, 0).ToVector<double>();
  for (std::int64_t head = 0; head < 4; ++head)
    for (std::int64_t i = 0; i < 5; ++i) {
      std::vector<double> expected(5);
      double sum = 0;
      for (std::int64_t j = 0; j <= i; ++j) {
        double score = 0;
        for (std::int64_t dim = 0; dim < 3; ++dim)
          score += at(query, i, 3 * head + dim) * at(key, j, 3 * (head / 2) + dim);
        sum += expected[static_cast<std::size_t>(j)] = std::exp(0.7 * std::tanh(0.5 * score / 0.7));
      }
      for (double& weight : expected) weight /= sum;
      for (std::int64_t j = 0; j < 5; ++j)
        EXPECT_NEAR(weights[static_cast<std::size_t>((head * 5 + i) * 5 + j)], expected[static_cast<std::size_t>(j)],
                    1e-12);
      for (std::int64_t dim = 0; dim < 3; ++dim) {
        double mean = 0;
        for (std::int64_t j = 0; j < 5; ++j)
          mean += expected[static_cast<std::size_t>(j)] * at(value, j, 3 * (head / 2) + dim);
        EXPECT_NEAR(at(attended, i, 3 * head + dim), mean, 1e-12);
      }
    }
  const auto f = [&](const std::vector<Tensor>& in) { return attention(context, in[0], in[1], in[2], text, text); };
  EXPECT_EQ("", CheckGradients(f, {query, key, value}));
}

// Checks that a text with capped scores gives the same bits in one pass, in chunks over a cache, and next to another
// text. Hooks must receive the same weights.
TEST(MultiHeadAttention, CapsScoresOnEveryPath) {
  const auto declare = [](Parameters& parameters, AttentionKind kind, double score_cap) {
    const MultiHeadAttentionConfig config{
        .model = 24, .heads = 4, .key_heads = 2, .dropout = 0, .score_cap = score_cap};
    auto attention = std::make_unique<MultiHeadAttention>(Scope(parameters), config, kind, 0);
    parameters.Initialize(3);
    return attention;
  };
  const Tensor x = Tensor::From<float>(
      [] {
        std::vector<float> numbers;
        for (const double number : RandomTensor({9, 24}, 1, 12).ToVector<double>())
          numbers.push_back(static_cast<float>(number));
        return numbers;
      }(),
      {9, 24});
  const Sequences text = {{0, 9}}, two = {{0, 5}, {5, 4}};
  Parameters capped_parameters, plain_parameters, cross_parameters;
  const auto capped = declare(capped_parameters, AttentionKind::decoder_self, 0.5);
  const auto plain = declare(plain_parameters, AttentionKind::decoder_self, 0);
  std::vector<Tensor> weights;
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) { weights.push_back(seen.weights); };
  const std::vector<float> whole = capped->Self(context, x, text, /*causal=*/true).ToVector<float>();
  const Tensor of_whole = weights.back();
  EXPECT_NE(whole, plain->Self(context, x, text, /*causal=*/true).ToVector<float>());
  EXPECT_NE(of_whole.ToVector<float>(), weights.back().ToVector<float>());

  const std::vector<float> in_batch = capped->Self(context, x, two, /*causal=*/true).ToVector<float>();
  EXPECT_TRUE(std::equal(in_batch.begin(), in_batch.begin() + 5 * 24, whole.begin()));
  for (const std::vector<std::int32_t>& pieces : {std::vector<std::int32_t>{1, 1, 1, 1, 1, 1, 1, 1, 1}, {6, 1, 2}}) {
    DecoderCache cache;
    cache.SetLayers(1);
    Context over_cache;
    over_cache.cache = &cache;
    std::int32_t begin = 0;
    over_cache.hooks.attention = [&](const LayerAttention& seen) {
      const std::int64_t rows = seen.weights.shape()[2], keys = seen.weights.shape()[3];
      for (std::int64_t head = 0; head < 4; ++head)
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < keys; ++j)
            EXPECT_NEAR(seen.weights.data<float>()[(head * rows + i) * keys + j],
                        of_whole.data<float>()[(head * 9 + begin + i) * 9 + j], 1e-6);
    };
    std::vector<float> together;
    for (const std::int32_t length : pieces) {
      const Sequences some = {{0, length}};
      cache.Append(some);
      const std::vector<float> part =
          capped->Self(over_cache, x.ViewRows(begin, length), some, /*causal=*/true).ToVector<float>();
      together.insert(together.end(), part.begin(), part.end());
      begin += length;
    }
    EXPECT_EQ(together, whole);
  }

  const auto cross = declare(cross_parameters, AttentionKind::cross, 0.5);
  const Tensor memory = x.ViewRows(2, 6);
  const std::vector<float> direct =
      cross->Cross(context, x.ViewRows(0, 1), {{0, 1}}, cross->KeysAndValues(context, memory), {{0, 6}})
          .ToVector<float>();
  DecoderCache cache;
  cache.SetLayers(1);
  cache.Activate({cache.AddText(cache.AddMemory(memory))});
  cache.Append({{0, 1}});
  Context over_cache;
  over_cache.cache = &cache;
  EXPECT_EQ(cross->CrossOverCache(over_cache, x.ViewRows(0, 1), {{0, 1}}).ToVector<float>(), direct);
}

TEST(MultiHeadAttention, RejectsKeyHeadsThatDoNotDivideHeads) {
  Parameters parameters;
  EXPECT_THAT(
      [&] {
        MultiHeadAttention(Scope(parameters), {.model = 8, .heads = 4, .key_heads = 3}, AttentionKind::decoder_self, 0);
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("3 key heads do not divide 4 heads")));
}

}  // namespace
}  // namespace headlight::attention_test
