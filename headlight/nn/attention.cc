#include "headlight/nn/attention.h"

#include <cmath>

#include "headlight/base/error.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/attention.h"
#include "headlight/ops/concatenate.h"
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
  return config;
}

// The weights' gradient where attended = weights value: d attended value^T, head by head.
Tensor GradientOfWeights(const Tensor& d_attended, const Tensor& value, std::int32_t heads) {
  const std::int64_t queries = d_attended.rows(), keys = value.rows(), size = d_attended.columns() / heads;
  const Tensor gradient = Tensor::Empty({1, heads, queries, keys}, d_attended.dtype());
  for (std::int32_t head = 0; head < heads; ++head)
    gradient.ViewAs({heads * queries, keys})
        .ViewRows(head * queries, queries)
        .CopyFrom(
            ops::Linear(d_attended.ViewColumns(head * size, size), {.value = value.ViewColumns(head * size, size)}));
  return gradient;
}

}  // namespace

ops::AttentionOptions ScaledDotProductAttention::OptionsFor(const Tensor& query, Dropout dropout_of_weights) const {
  const double head_dim = static_cast<double>(query.columns()) / heads;
  return {.heads = heads,
          .key_heads = key_heads,
          .scale = scale.value_or(1 / std::sqrt(head_dim)),
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
                                          const Sequences& keys, std::int32_t sentence) const {
  return ops::AttentionWeights(query, key, queries, keys, OptionsFor(query, {}), sentence);
}

Tensor ScaledDotProductAttention::Weights(const Tensor& query, const ops::CachedKeys& cached, const Sequences& queries,
                                          std::int32_t sentence) const {
  return ops::AttentionWeights(query, cached, queries, OptionsFor(query, {}), sentence);
}

Tensor ScaledDotProductAttention::WithGradients(Context& context, const Tensor& attended, const Tensor& query,
                                                const Tensor& key, const Tensor& value, const Sequences& queries,
                                                const Sequences& keys, AttentionKind kind, int layer) const {
  Ensure(context.tape != nullptr && context.cache == nullptr && !context.training && key_heads == 0,
         "gradients of weights need a tape, no cache, no dropout and keys for each head");
  // Where nothing before it wants a gradient, as in a first layer, the tape begins here.
  const Tensor from = attended.node() != nullptr ? attended : context.tape->Watch(attended);
  return Record(from.Detached(), {&from},
                [node = from.node(), query = query.Detached(), key = key.Detached(), value = value.Detached(), queries,
                 keys, kind, layer, sink = context.gradient_sink, attention = *this](const Tensor& gradient) {
                  Accumulate(node, gradient);
                  for (std::size_t sentence = 0; sentence < queries.size(); ++sentence) {
                    const Sequence &own = queries[sentence], &seen = keys[sentence];
                    Ensure(own.step == 1 && seen.step == 1, "gradients of weights over rows that lie apart");
                    const auto index = static_cast<std::int32_t>(sentence);
                    sink({kind, layer, index, attention.Weights(query, key, queries, keys, index)},
                         GradientOfWeights(gradient.ViewRows(own.begin, own.length),
                                           value.ViewRows(seen.begin, seen.length), attention.heads));
                  }
                });
}

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const MultiHeadAttentionConfig& config, AttentionKind kind,
                                       int layer)
    : config_(Complete(config)),
      width_(config_.heads * config_.head_dim),
      kind_(kind),
      layer_(layer),
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
            config_.memory > 0 ? config_.memory : config_.model, 2 * width_);
  } else {
    const bool apart = names.query_key_value.empty(), key_bias = config_.key_bias.value_or(config_.biases);
    Ensure(apart || key_bias == config_.biases, "{} has one bias for queries and keys", names.query_key_value);
    query_key_value_.emplace(
        scope, apart ? std::vector{names.query, names.key, names.value} : std::vector{names.query_key_value},
        config_.model, 3 * width_, config_.biases && key_bias, config_.stored_transposed);
    Ensure(config_.biases || !key_bias, "keys have a bias, and queries have none");
    if (config_.biases && !key_bias) {
      query_bias_ = &scope.DeclareVector({names.query + ".bias"}, width_);
      value_bias_ = &scope.DeclareVector({names.value + ".bias"}, width_);
    }
  }
}

// x W^T + b for the query, key and value, [tokens, 3 * heads * head_dim].
Tensor MultiHeadAttention::QueryKeyValue(Context& context, const Tensor& x) const {
  const Tensor projected = (*query_key_value_)(context, x);
  if (query_bias_ == nullptr) return projected;
  const auto column = [&](const Tensor& bias) { return ops::Reshape(bias, {width_, 1}); };
  const Tensor none = Tensor::Zeros({width_, 1}, projected.dtype());
  const Tensor bias =
      ops::Concatenate(ops::Concatenate(column(context.Use(*query_bias_)), none), column(context.Use(*value_bias_)));
  return ops::Add(projected, ops::Reshape(bias, {3 * width_}));
}

Tensor MultiHeadAttention::Self(Context& context, const Tensor& x, const Sequences& sentences, bool causal,
                                const ops::AttentionBias& bias, const ops::RotaryAngles* angles) const {
  const ScaledDotProductAttention attention{.heads = config_.heads,
                                            .mask = {causal, config_.window - 1, config_.window - 1},
                                            .scale = config_.scale,
                                            .dropout = config_.dropout,
                                            .bias = bias,
                                            .compute = output_.compute()};
  const Tensor projected = QueryKeyValue(context, x);
  const auto turned = [&](const Tensor& rows) { return angles != nullptr ? ops::Rotary(rows, *angles) : rows; };
  const Tensor query = turned(ops::Columns(projected, 0, width_));
  if (context.cache == nullptr)
    return Attend(context, query, turned(ops::Columns(projected, width_, width_)),
                  ops::Columns(projected, 2 * width_, width_), sentences, sentences, attention);
  Ensure(angles == nullptr, "a cache holds keys that are not turned");
  const auto layer = static_cast<std::size_t>(layer_);
  context.cache->Write(layer, projected.ViewColumns(width_, width_), projected.ViewColumns(2 * width_, width_),
                       config_.heads);
  return AttendOverCache(context, query, context.cache->SelfKeys(layer), sentences, attention);
}

Tensor MultiHeadAttention::Cross(Context& context, const Tensor& x, const Sequences& queries,
                                 const Tensor& keys_and_values, const Sequences& keys) const {
  return Attend(
      context, (*query_)(context, x), ops::Columns(keys_and_values, 0, width_),
      ops::Columns(keys_and_values, width_, width_), queries, keys,
      {.heads = config_.heads, .scale = config_.scale, .dropout = config_.dropout, .compute = output_.compute()});
}

Tensor MultiHeadAttention::CrossOverCache(Context& context, const Tensor& x, const Sequences& queries) const {
  DecoderCache& cache = *context.cache;
  const auto layer = static_cast<std::size_t>(layer_);
  if (!cache.new_memory().empty()) {
    const Tensor projected = KeysAndValues(context, cache.new_memory());
    cache.WriteCross(layer, projected.ViewColumns(0, width_), projected.ViewColumns(width_, width_), config_.heads);
  }
  return AttendOverCache(context, (*query_)(context, x), cache.CrossKeys(layer), queries,
                         {.heads = config_.heads, .scale = config_.scale});
}

Tensor MultiHeadAttention::KeysAndValues(Context& context, const Tensor& memory) const {
  return (*key_value_)(context, memory);
}

Tensor MultiHeadAttention::Attend(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                                  const Sequences& queries, const Sequences& keys,
                                  const ScaledDotProductAttention& attention) const {
  for (std::size_t sentence = 0; context.sink && sentence < queries.size(); ++sentence) {
    LayerAttention seen{kind_, layer_, static_cast<std::int32_t>(sentence),
                        attention.Weights(query, key, queries, keys, static_cast<std::int32_t>(sentence))};
    if (queries[sentence].step == 1 && keys[sentence].step == 1) {
      seen.query = query.ViewRows(queries[sentence].begin, queries[sentence].length);
      seen.key = key.ViewRows(keys[sentence].begin, keys[sentence].length);
    }
    context.sink(seen);
  }
  Tensor attended = attention(context, query, key, value, queries, keys);
  if (context.gradient_sink)
    attended = attention.WithGradients(context, attended, query, key, value, queries, keys, kind_, layer_);
  return output_(context, attended);
}

Tensor MultiHeadAttention::AttendOverCache(Context& context, const Tensor& query, const ops::CachedKeys& cached,
                                           const Sequences& queries, const ScaledDotProductAttention& attention) const {
  const bool wanted = !context.last_cross_attention ||
                      (kind_ == AttentionKind::cross && std::cmp_equal(layer_ + 1, context.cache->layers()));
  for (std::size_t sentence = 0; context.sink && wanted && sentence < queries.size(); ++sentence) {
    const auto index = static_cast<std::int32_t>(sentence);
    context.sink({kind_, layer_, index, attention.Weights(query, cached, queries, index)});
  }
  return output_(context, attention(query, cached, queries));
}

}  // namespace headlight
