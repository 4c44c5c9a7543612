#include "headlight/nn/attention.h"

#include <gmock/gmock.h>

#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::attention_test {
namespace {

// The values that hooks receive.
struct Told {
  std::vector<std::vector<double>> weights, queries, keys, gradients;
};

Told Attended(std::int32_t key_heads, const Tensor& query, const Tensor& key, const Tensor& value) {
  Tape tape;
  Context context;
  context.tape = &tape;
  Told told;
  context.hooks.attention = [&](const LayerAttention& seen) {
    told.weights.push_back(seen.weights.ToVector<double>());
    told.queries.push_back(seen.query.Clone().ToVector<double>());
    told.keys.push_back(seen.key.Clone().ToVector<double>());
  };
  context.hooks.attention_gradient = [&](const LayerAttention&, const Tensor& gradient) {
    told.gradients.push_back(gradient.ToVector<double>());
  };
  const ScaledDotProductAttention attention{.heads = 4, .mask = {.causal = true}, .key_heads = key_heads};
  const Sequences texts = {{0, 2}, {2, 3}};
  const Tensor attended =
      attention.Attend(context, {AttentionKind::decoder_self, 1}, tape.Watch(query), key, value, texts, texts);
  tape.Backward(ops::Sum(ops::Multiply(attended, RandomTensor(attended.shape(), 4))));
  return told;
}

TEST(ScaledDotProductAttention, ReportsGroupedHeadsAsIfEachHadKeysOfItsOwn) {
  const Tensor query = RandomTensor({5, 12}, 1), key = RandomTensor({5, 6}, 2), value = RandomTensor({5, 6}, 3);
  const auto for_each = [](const Tensor& grouped) {
    const Tensor all = Tensor::Empty({5, 12}, grouped.dtype());
    for (std::int64_t head = 0; head < 4; ++head)
      all.ViewColumns(3 * head, 3).CopyFrom(grouped.ViewColumns(head / 2 * 3, 3));
    return all;
  };
  const Told grouped = Attended(2, query, key, value), all = Attended(0, query, for_each(key), for_each(value));
  ASSERT_EQ(grouped.weights.size(), 2U);
  EXPECT_EQ(grouped.weights, all.weights);
  EXPECT_EQ(grouped.queries, all.queries);
  EXPECT_EQ(grouped.keys, all.keys);
  ASSERT_EQ(grouped.gradients.size(), 2U);
  EXPECT_EQ(grouped.gradients, all.gradients);
}

TEST(MultiHeadAttention, NamesKeyHeadsThatDoNotDivide) {
  Parameters parameters;
  EXPECT_THAT(
      [&] {
        MultiHeadAttention(Scope(parameters), {.model = 8, .heads = 4, .key_heads = 3}, AttentionKind::decoder_self, 0);
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("3 key heads do not divide 4 heads")));
}

}  // namespace
}  // namespace headlight::attention_test
