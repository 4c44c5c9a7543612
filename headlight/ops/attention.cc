#include "headlight/ops/attention.h"

#include <algorithm>
#include <type_traits>

#include "headlight/autograd/tape.h"

namespace headlight::ops {
namespace {

// Holds the kernel's bias for one pass.
template <typename T>
struct PassBias {
  explicit PassBias(const AttentionBias& bias, const Tensor& d_values = {}) {
    if (bias.values.empty()) return;
    if constexpr (std::is_same_v<T, float>) {
      if (bias.make_float) computed = bias.make_float(bias.values, d_values);
    } else {
      if (bias.make_double) computed = bias.make_double(bias.values, d_values);
    }
    data.computed = computed.get();
    if (computed) return;
    const auto matrix_of = [&](const Tensor& values) {
      const Shape& shape = values.shape();
      return bias.heads_first
                 ? values.ViewAs({shape[0], values.elements() / std::max<std::int64_t>(1, shape[0])}).matrix<T>()
                 : values.matrix<T>();
    };
    data.values = matrix_of(bias.values);
    data.heads_first = bias.heads_first;
    data.by = bias.by;
    if (bias.index) data.index = *bias.index;
    if (bias.begin) data.begin = *bias.begin;
    if (!d_values.empty()) data.d_values = matrix_of(d_values);
  }

  std::unique_ptr<kernels::ComputedBias<T>> computed;
  kernels::AttentionBias<T> data;
};

template <typename T>
kernels::AttentionInput<T> InputOf(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const Sequences& queries, const Sequences& keys, const AttentionOptions& options,
                                   const PassBias<T>& bias) {
  return {
      .query = query.matrix<T>(),
      .key = key.matrix<T>(),
      .value = value.matrix<T>(),
      .queries = queries,
      .keys = keys,
      .key_rows = {},
      .key_blocks = {},
      .value_blocks = {},
      .cache_type = kernels::CacheType::unrounded,
      .present = options.present ? std::span<const std::uint8_t>(*options.present) : std::span<const std::uint8_t>(),
      .heads = options.heads,
      .key_heads = options.key_heads,
      .scale = static_cast<T>(options.scale),
      .score_cap = static_cast<T>(options.score_cap),
      .mask = options.mask,
      .bias = bias.data,
      .dropout = options.dropout,
      .compute = options.compute};
}

template <typename T>
kernels::AttentionInput<T> InputOf(const Tensor& query, const CachedKeys& cached, const Sequences& queries,
                                   const AttentionOptions& options, const PassBias<T>& bias) {
  const CacheBlocks &keys = *cached.keys, &values = *cached.values;
  Ensure(keys.rows() > 0 && keys.dtype() == query.dtype() && values.dtype() == query.dtype(),
         "Attention: {} queries over a cache of {} rows of {}", Name(query.dtype()), keys.rows(), Name(keys.dtype()));
  return {.query = query.matrix<T>(),
          .key = {nullptr, keys.rows(), keys.columns(), keys.columns()},
          .value = {nullptr, values.rows(), values.columns(), values.columns()},
          .queries = queries,
          .keys = cached.sequences,
          .key_rows = cached.rows,
          .key_blocks = keys.blocks(),
          .value_blocks = values.blocks(),
          .cache_type = keys.type(),
          .present = {},
          .heads = options.heads,
          .key_heads = options.key_heads,
          .scale = static_cast<T>(options.scale),
          .score_cap = static_cast<T>(options.score_cap),
          .mask = options.mask,
          .bias = bias.data,
          .dropout = {}};
}

// Returns true if two row views share elements.
template <typename T>
bool Overlap(const Matrix<T>& a, const Matrix<T>& b) {
  if (b.data < a.data) return Overlap(b, a);
  if (a.data == nullptr || a.rows == 0 || b.data >= a.row(a.rows - 1) + a.columns) return false;
  const std::int64_t column = (b.data - a.data) % a.stride;  // the column of a's rows at which b begins
  return a.stride != b.stride || column < a.columns || a.stride - column < b.columns;
}

}  // namespace

Tensor Attention(const Tensor& query, const Tensor& key, const Tensor& value, const Sequences& queries,
                 const Sequences& keys, const AttentionOptions& options) {
  const bool wants_gradient = RequiresGradient({&query, &key, &value, &options.bias.values});
  const std::int32_t key_heads = options.key_heads > 0 ? options.key_heads : options.heads;
  Check(key_heads > 0 && value.columns() % key_heads == 0, "Attention: {} key heads must divide values of shape {}",
        key_heads, ToString(value.shape()));
  const Tensor y = Tensor::Empty({query.rows(), value.columns() / key_heads * options.heads}, query.dtype());
  const Tensor log_sum_exp = wants_gradient ? Tensor::Empty({query.rows(), options.heads}, query.dtype()) : Tensor();
  Dispatch(query.dtype(), [&]<typename T>(T) {
    const PassBias<T> bias(options.bias);
    kernels::AttentionForward<T>(InputOf<T>(query, key, value, queries, keys, options, bias), y.matrix<T>(),
                                 wants_gradient ? log_sum_exp.span<T>() : std::span<T>());
  });
  if (!wants_gradient) return y;
  return Record(y, {&query, &key, &value, &options.bias.values},
                [query, key, value, queries, keys, options, y, log_sum_exp](const Tensor& dy) {
                  Dispatch(dy.dtype(), [&]<typename T>(T) {
                    const Tensor* const inputs[] = {&query, &key, &value};
                    kernels::GradientTo<T> to[3];  // no data if no gradient is needed
                    Tensor apart[3];               // separate gradients of inputs that overlap with other inputs
                    for (int i = 0; i < 3; ++i) {
                      if (inputs[i]->node() == nullptr) continue;
                      const GradientSlot slot = SlotFor(inputs[i]->node());
                      to[i] = {slot.tensor.matrix<T>(), slot.accumulate};
                      for (int other = 0; other < i; ++other)
                        if (Overlap(to[other].to, to[i].to))
                          apart[i] = Tensor::Empty(inputs[i]->shape(), inputs[i]->dtype());
                      if (!apart[i].empty()) to[i] = {apart[i].template matrix<T>(), false};
                    }
                    Node* const bias_node = options.bias.values.node();
                    const PassBias<T> bias(options.bias, bias_node == nullptr ? Tensor() : SumSlotFor(bias_node));
                    kernels::AttentionBackward<T>(InputOf<T>(query, key, value, queries, keys, options, bias),
                                                  y.matrix<T>(), dy.matrix<T>(), log_sum_exp.span<T>(), to[0], to[1],
                                                  to[2]);
                    for (int i = 0; i < 3; ++i)
                      if (!apart[i].empty()) Accumulate(inputs[i]->node(), apart[i]);
                  });
                });
}

Tensor AttentionWeights(const Tensor& query, const Tensor& key, const Sequences& queries, const Sequences& keys,
                        const AttentionOptions& options, std::int32_t sequence) {
  const auto b = static_cast<std::size_t>(sequence);
  Check(b < queries.size() && b < keys.size(), "AttentionWeights: there is no sentence {}", sequence);
  const Tensor weights = Tensor::Empty({1, options.heads, queries[b].length, keys[b].length}, query.dtype());
  Dispatch(query.dtype(), [&]<typename T>(T) {
    const PassBias<T> bias(options.bias);
    kernels::AttentionWeights<T>(InputOf<T>(query, key, key, queries, keys, options, bias), sequence,
                                 weights.span<T>());
  });
  return weights;
}

Tensor Attention(const Tensor& query, const CachedKeys& cached, const Sequences& queries,
                 const AttentionOptions& options) {
  Ensure(!RequiresGradient({&query, &options.bias.values}), "Attention: a cache has no gradient");
  const std::int32_t key_heads = options.key_heads > 0 ? options.key_heads : options.heads;
  const Tensor y = Tensor::Empty({query.rows(), cached.values->columns() / key_heads * options.heads}, query.dtype());
  Dispatch(query.dtype(), [&]<typename T>(T) {
    const PassBias<T> bias(options.bias);
    kernels::AttentionForward<T>(InputOf<T>(query, cached, queries, options, bias), y.matrix<T>(), {});
  });
  return y;
}

Tensor AttentionWeights(const Tensor& query, const CachedKeys& cached, const Sequences& queries,
                        const AttentionOptions& options, std::int32_t sequence) {
  const auto b = static_cast<std::size_t>(sequence);
  Check(b < queries.size() && b < cached.sequences.size(), "AttentionWeights: there is no sentence {}", sequence);
  const Tensor weights =
      Tensor::Empty({1, options.heads, queries[b].length, cached.sequences[b].length}, query.dtype());
  Dispatch(query.dtype(), [&]<typename T>(T) {
    const PassBias<T> bias(options.bias);
    kernels::AttentionWeights<T>(InputOf<T>(query, cached, queries, options, bias), sequence, weights.span<T>());
  });
  return weights;
}

}  // namespace headlight::ops
