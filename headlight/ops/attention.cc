#include "headlight/ops/attention.h"

#include "headlight/autograd/tape.h"

namespace headlight::ops {
namespace {

template <typename T>
AttentionInput<T> InputOf(const Tensor& query, const Tensor& key, const Tensor& value, const Sequences& queries,
                          const Sequences& keys, const AttentionOptions& options,
                          std::span<const std::int32_t> key_rows) {
  return {.query = query.matrix<T>(),
          .key = key.matrix<T>(),
          .value = value.matrix<T>(),
          .queries = queries,
          .keys = keys,
          .key_rows = key_rows,
          .heads = options.heads,
          .scale = static_cast<T>(options.scale),
          .causal = options.causal,
          .window = options.window,
          .dropout = options.dropout};
}

template <typename T>
GradientTo<T> GradientOf(Node* node, const Tensor& like) {
  if (node == nullptr) return {Tensor::Empty(like.shape(), like.dtype()).matrix<T>(), false};
  const GradientSlot slot = SlotFor(node);
  return {slot.tensor.matrix<T>(), slot.accumulate};
}

}  // namespace

Tensor Attention(const Tensor& query, const Tensor& key, const Tensor& value, const Sequences& queries,
                 const Sequences& keys, const AttentionOptions& options, std::span<const std::int32_t> key_rows) {
  const bool wants_gradient = WantsGradient({&query, &key, &value});
  Ensure(!wants_gradient || key_rows.empty(), "Attention: a cache has no gradient");
  const Tensor y = Tensor::Empty({query.rows(), value.columns()}, query.dtype());
  const Tensor log_sum_exp = wants_gradient ? Tensor::Empty({query.rows(), options.heads}, query.dtype()) : Tensor();
  Dispatch(query.dtype(), [&]<typename T>(T) {
    AttentionForward<T>(InputOf<T>(query, key, value, queries, keys, options, key_rows), y.matrix<T>(),
                        wants_gradient ? log_sum_exp.span<T>() : std::span<T>());
  });
  if (!wants_gradient) return y;
  return Record(y, {&query, &key, &value},
                [query, key, value, queries, keys, options, y, log_sum_exp](const Tensor& dy) {
                  Dispatch(dy.dtype(), [&]<typename T>(T) {
                    AttentionBackward<T>(InputOf<T>(query, key, value, queries, keys, options, {}), y.matrix<T>(),
                                         dy.matrix<T>(), log_sum_exp.span<T>(), GradientOf<T>(query.node(), query),
                                         GradientOf<T>(key.node(), key), GradientOf<T>(value.node(), value));
                  });
                });
}

Tensor AttentionWeights(const Tensor& query, const Tensor& key, const Sequences& queries, const Sequences& keys,
                        const AttentionOptions& options, std::int32_t sentence,
                        std::span<const std::int32_t> key_rows) {
  const auto b = static_cast<std::size_t>(sentence);
  Check(b < queries.size() && b < keys.size(), "AttentionWeights: there is no sentence {}", sentence);
  const Tensor weights = Tensor::Empty({1, options.heads, queries[b].length, keys[b].length}, query.dtype());
  Dispatch(query.dtype(), [&]<typename T>(T) {
    headlight::AttentionWeights<T>(InputOf<T>(query, key, key, queries, keys, options, key_rows), sentence,
                                   weights.span<T>());
  });
  return weights;
}

}  // namespace headlight::ops
