#include "headlight/nn/attention.h"

#include <cmath>

#include "headlight/base/error.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/attention.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/head_groups.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

MultiHeadAttentionConfig Complete(MultiHeadAttentionConfig config) {
  Check(config.heads >= 1, "attention needs at least one head, not {}", config.heads);
  if (config.head_dim == 0) {
    Check(config.model % config.heads == 0, "{} heads do not divide a model dimension of {}", config.heads,
          config.model);
    config.head_dim = config.model / config.heads;
  }
  if (config.key_heads == 0) config.key_heads = config.heads;
  Check(config.key_heads >= 1 && config.heads % config.key_heads == 0, "{} key heads do not divide {} heads",
        config.key_heads, config.heads);
  return config;
}

// Returns the gradient of the weights in attended = weights value. For each head, it is d_attended value^T.
Tensor GradientOfWeights(const Tensor& d_attended, const Tensor& value, std::int32_t heads, std::int32_t key_heads) {
  const std::int64_t queries = d_attended.rows(), keys = value.rows(), size = d_attended.columns() / heads;
  const Tensor gradient = Tensor::Empty({1, heads, queries, keys}, d_attended.dtype());
  for (std::int32_t head = 0; head < heads; ++head) {
    const Tensor of_head = value.ViewColumns(head / (heads / key_heads) * size, size);
    gradient.ViewAs({heads * queries, keys})
        .ViewRows(head * queries, queries)
        .CopyFrom(ops::Linear(d_attended.ViewColumns(head * size, size), {.value = of_head}));
  }
  return gradient;
}

// Repeats keys [tokens, key_heads * head_dim] for each query head. Returns [tokens, heads * head_dim].
Tensor KeysOfHeads(const Tensor& key, std::int32_t heads, std::int32_t key_heads) {
  if (heads == key_heads) return key;
  const std::int64_t size = key.columns() / key_heads;
  const Tensor all = Tensor::Empty({key.rows(), heads * size}, key.dtype());
  for (std::int32_t head = 0; head < heads; ++head)
    all.ViewColumns(head * size, size).CopyFrom(key.ViewColumns(head / (heads / key_heads) * size, size));
  return all;
}

}  // namespace

ops::AttentionOptions ScaledDotProductAttention::OptionsFor(const Tensor& query, Dropout dropout_of_weights) const {
  const double head_dim = static_cast<double>(query.columns()) / heads;
  return {.heads = heads,
          .key_heads = key_heads,
          .scale = scale.value_or(1 / std::sqrt(head_dim)),
          .score_cap = score_cap,
          .mask = mask,
          .dropout = dropout_of_weights,
          .bias = bias,
          .present = present,
          .compute = compute};
}

Tensor ScaledDotProductAttention::operator()(Context& context, const Tensor& query, const Tensor& key,
                                             const Tensor& value, const Sequences& queries,
                                             const Sequences& keys) const {
  return ops::Attention(query, key, value, queries, keys, OptionsFor(query, context.NextDropout(dropout)));
}

Tensor ScaledDotProductAttention::operator()(const Tensor& query, const ops::CachedKeys& cached,
                                             const Sequences& queries) const {
  return ops::Attention(query, cached, queries, OptionsFor(query, {}));
}

Tensor ScaledDotProductAttention::Weights(const Tensor& query, const Tensor& key, const Sequences& queries,
                                          const Sequences& keys, std::int32_t sequence) const {
  return ops::AttentionWeights(query, key, queries, keys, OptionsFor(query, {}), sequence);
}

Tensor ScaledDotProductAttention::Weights(const Tensor& query, const ops::CachedKeys& cached, const Sequences& queries,
                                          std::int32_t sequence) const {
  return ops::AttentionWeights(query, cached, queries, OptionsFor(query, {}), sequence);
}

void ScaledDotProductAttention::Report(const Context& context, const AttentionSource& source, const Tensor& query,
                                       const Tensor& key, const Sequences& queries, const Sequences& keys) const {
  for (std::size_t sequence = 0; context.hooks.attention && sequence < queries.size(); ++sequence) {
    const auto index = static_cast<std::int32_t>(sequence);
    const Sequence &own = queries[sequence], &seen_keys = keys[sequence];
    LayerAttention seen{source.kind, source.layer, index, Weights(query, key, queries, keys, index)};
    if (own.step == 1 && seen_keys.step == 1 && !bias.make_float) {
      seen.query = query.ViewRows(own.begin, own.length);
      seen.key = KeysOfHeads(key.ViewRows(seen_keys.begin, seen_keys.length), heads, KeyHeads());
    }
    context.hooks.attention(seen);
  }
}

void ScaledDotProductAttention::Report(const Context& context, const AttentionSource& source, const Tensor& query,
                                       const ops::CachedKeys& cached, const Sequences& queries) const {
  const bool wanted = context.hooks.attention && (!context.hooks.wanted || context.hooks.wanted(source));
  for (std::size_t sequence = 0; wanted && sequence < queries.size(); ++sequence) {
    const auto index = static_cast<std::int32_t>(sequence);
    context.hooks.attention({source.kind, source.layer, index, Weights(query, cached, queries, index)});
  }
}

Tensor ScaledDotProductAttention::Attend(Context& context, const AttentionSource& source, const Tensor& query,
                                         const Tensor& key, const Tensor& value, const Sequences& queries,
                                         const Sequences& keys) const {
  Report(context, source, query, key, queries, keys);
  const Tensor attended = (*this)(context, query, key, value, queries, keys);
  return context.hooks.attention_gradient ? WithGradients(context, attended, query, key, value, queries, keys, source)
                                          : attended;
}

Tensor ScaledDotProductAttention::Attend(const Context& context, const AttentionSource& source, const Tensor& query,
                                         const ops::CachedKeys& cached, const Sequences& queries) const {
  Report(context, source, query, cached, queries);
  return (*this)(query, cached, queries);
}

Tensor ScaledDotProductAttention::WithGradients(Context& context, const Tensor& attended, const Tensor& query,
                                                const Tensor& key, const Tensor& value, const Sequences& queries,
                                                const Sequences& keys, const AttentionSource& source) const {
  Ensure(context.tape != nullptr && context.cache == nullptr && !context.training,
         "gradients of weights need a tape, no cache and no dropout");
  // If no input requires a gradient, as in the first layer, the tape begins at this attention layer.
  const Tensor from = attended.node() != nullptr ? attended : context.tape->Watch(attended);
  return Record(
      from.Detached(), {&from},
      [node = from.node(), query = query.Detached(), key = key.Detached(), value = value.Detached(), queries, keys,
       source, hook = context.hooks.attention_gradient, attention = *this](const Tensor& gradient) {
        Accumulate(node, gradient);
        for (std::size_t sequence = 0; sequence < queries.size(); ++sequence) {
          const Sequence &own = queries[sequence], &seen = keys[sequence];
          Ensure(own.step == 1 && seen.step == 1, "gradients of weights over rows that are not contiguous");
          const auto index = static_cast<std::int32_t>(sequence);
          hook({source.kind, source.layer, index, attention.Weights(query, key, queries, keys, index)},
               GradientOfWeights(gradient.ViewRows(own.begin, own.length), value.ViewRows(seen.begin, seen.length),
                                 attention.heads, attention.KeyHeads()));
        }
      });
}

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const MultiHeadAttentionConfig& config, AttentionKind kind,
                                       int layer)
    : config_(Complete(config)),
      width_(config_.heads * config_.head_dim),
      key_width_(config_.key_heads * config_.head_dim),
      source_{kind, layer},
      output_(scope, {config_.names.output}, width_, config_.model, config_.output_bias.value_or(config_.biases),
              config_.stored_transposed) {
  const AttentionNames& names = config_.names;
  if (kind == AttentionKind::cross) {
    const auto project = [&](std::optional<Linear>& linear, const std::vector<std::string>& parts, std::int64_t inputs,
                             std::int64_t outputs) {
      linear.emplace(scope, parts, inputs, outputs, config_.biases, config_.stored_transposed);
    };
    project(query_, {names.query}, config_.model, width_);
    project(key_value_, names.key_value.empty() ? std::vector{names.key, names.value} : std::vector{names.key_value},
            config_.memory > 0 ? config_.memory : config_.model, 2 * key_width_);
  } else {
    const bool apart = names.query_key_value.empty(), key_bias = config_.key_bias.value_or(config_.biases);
    Ensure(apart || key_bias == config_.biases, "{} has one bias for queries and keys", names.query_key_value);
    query_key_value_.emplace(
        scope, apart ? std::vector{names.query, names.key, names.value} : std::vector{names.query_key_value},
        config_.model, width_ + 2 * key_width_, config_.biases && key_bias, config_.stored_transposed,
        LinearInitialization{},
        apart && key_width_ != width_ ? std::vector{width_, key_width_, key_width_} : std::vector<std::int64_t>());
    Ensure(config_.biases || !key_bias, "keys have a bias, and queries have none");
    if (config_.biases && !key_bias) {
      query_bias_ = &scope.DeclareVector({names.query + ".bias"}, width_);
      value_bias_ = &scope.DeclareVector({names.value + ".bias"}, key_width_);
    }
  }
}

// Computes x W^T + b for query, key and value, [tokens, (heads + 2 * key_heads) * head_dim].
Tensor MultiHeadAttention::QueryKeyValue(Context& context, const Tensor& x) const {
  const Tensor projected = (*query_key_value_)(context, x);
  if (config_.names.grouped_by_head && config_.key_heads > 1)  // with one key head, both orders are equal
    return ops::UngroupHeads(projected, config_.key_heads, config_.heads / config_.key_heads, config_.head_dim);
  if (query_bias_ == nullptr) return projected;
  const auto column = [&](const Tensor& bias) { return ops::Reshape(bias, {bias.elements(), 1}); };
  const Tensor none = Tensor::Zeros({key_width_, 1}, projected.dtype());
  const Tensor bias =
      ops::Concatenate(ops::Concatenate(column(context.Use(*query_bias_)), none), column(context.Use(*value_bias_)));
  return ops::Add(projected, ops::Reshape(bias, {projected.columns()}));
}

ScaledDotProductAttention MultiHeadAttention::Attention() const {
  return {.heads = config_.heads,
          .scale = config_.scale,
          .score_cap = config_.score_cap,
          .dropout = config_.dropout,
          .key_heads = config_.key_heads,
          .compute = output_.compute()};
}

Tensor MultiHeadAttention::Self(Context& context, const Tensor& x, const Sequences& sequences, bool causal,
                                const ops::AttentionBias& bias, const QueryKeySteps& steps) const {
  ScaledDotProductAttention attention = Attention();
  attention.mask = {causal, config_.window - 1, config_.window - 1};
  attention.bias = bias;
  const Tensor projected = QueryKeyValue(context, x);
  const Tensor value = ops::Columns(projected, width_ + key_width_, key_width_);
  Tensor changed = projected;  // replaces the first columns of `projected`
  // Nested views are avoided, because their backward pass would copy.
  if (steps.norm != nullptr || steps.head_norms != nullptr || steps.angles != nullptr)
    changed = ops::Columns(projected, 0, width_ + key_width_);
  if (steps.norm != nullptr) changed = (*steps.norm)(context, changed);
  if (steps.head_norms != nullptr) changed = (*steps.head_norms)(context, changed);
  if (steps.angles != nullptr) changed = ops::Rotary(changed, *steps.angles);
  const Tensor query = ops::Columns(changed, 0, width_), key = ops::Columns(changed, width_, key_width_);
  if (context.cache == nullptr)
    return output_(context, attention.Attend(context, source_, query, key, value, sequences, sequences));
  const auto layer = static_cast<std::size_t>(source_.layer);
  context.cache->Write(layer, key, value, config_.key_heads);
  return output_(context, attention.Attend(context, source_, query, context.cache->SelfKeys(layer), sequences));
}

Tensor MultiHeadAttention::Cross(Context& context, const Tensor& x, const Sequences& queries,
                                 const Tensor& keys_and_values, const Sequences& keys) const {
  return output_(
      context, Attention().Attend(context, source_, (*query_)(context, x), ops::Columns(keys_and_values, 0, key_width_),
                                  ops::Columns(keys_and_values, key_width_, key_width_), queries, keys));
}

Tensor MultiHeadAttention::CrossOverCache(Context& context, const Tensor& x, const Sequences& queries) const {
  DecoderCache& cache = *context.cache;
  const auto layer = static_cast<std::size_t>(source_.layer);
  if (!cache.new_memory().empty()) {
    const Tensor projected = KeysAndValues(context, cache.new_memory());
    cache.WriteCross(layer, projected.ViewColumns(0, key_width_), projected.ViewColumns(key_width_, key_width_),
                     config_.key_heads);
  }
  return output_(context, Attention().Attend(context, source_, (*query_)(context, x), cache.CrossKeys(layer), queries));
}

Tensor MultiHeadAttention::KeysAndValues(Context& context, const Tensor& memory) const {
  return (*key_value_)(context, memory);
}

}  // namespace headlight
