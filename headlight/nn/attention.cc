#include "headlight/nn/attention.h"

#include <cmath>

#include "headlight/base/error.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/attention.h"
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

}  // namespace

ops::AttentionOptions ScaledDotProductAttention::OptionsFor(const Tensor& query, Dropout dropout_of_weights) const {
  const double head_dim = static_cast<double>(query.columns()) / heads;
  return {.heads = heads,
          .key_heads = key_heads,
          .scale = scale.value_or(1 / std::sqrt(head_dim)),
          .mask = mask,
          .dropout = dropout_of_weights,
          .bias = bias};
}

Tensor ScaledDotProductAttention::operator()(Context& context, const Tensor& query, const Tensor& key,
                                             const Tensor& value, const Sequences& queries, const Sequences& keys,
                                             std::span<const std::int32_t> key_rows) const {
  return ops::Attention(query, key, value, queries, keys, OptionsFor(query, context.NextDropout(dropout)), key_rows);
}

Tensor ScaledDotProductAttention::Weights(const Tensor& query, const Tensor& key, const Sequences& queries,
                                          const Sequences& keys, std::int32_t sentence,
                                          std::span<const std::int32_t> key_rows) const {
  return ops::AttentionWeights(query, key, queries, keys, OptionsFor(query, {}), sentence, key_rows);
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
  const auto project = [&](std::optional<Linear>& linear, const std::vector<std::string>& parts, std::int64_t outputs) {
    linear.emplace(scope, parts, config_.model, outputs, config_.biases, config_.stored_transposed);
  };
  if (kind == AttentionKind::cross) {
    project(query_, {names.query}, width_);
    project(key_value_, {names.key, names.value}, 2 * width_);
  } else {
    project(query_key_value_,
            names.query_key_value.empty() ? std::vector{names.query, names.key, names.value}
                                          : std::vector{names.query_key_value},
            3 * width_);
  }
}

Tensor MultiHeadAttention::Self(Context& context, const Tensor& x, const Sequences& sentences, bool causal,
                                const ops::AttentionBias& bias) const {
  const ScaledDotProductAttention attention{.heads = config_.heads,
                                            .mask = {causal, config_.window - 1, config_.window - 1},
                                            .scale = config_.scale,
                                            .dropout = config_.dropout,
                                            .bias = bias};
  const Tensor projected = (*query_key_value_)(context, x);
  const Tensor query = ops::Columns(projected, 0, width_);
  if (context.cache == nullptr)
    return Attend(context, query, ops::Columns(projected, width_, width_), ops::Columns(projected, 2 * width_, width_),
                  sentences, sentences, {}, attention);
  DecoderCache& cache = *context.cache;
  const Tensor& all = cache.SelfRows(static_cast<std::size_t>(layer_), 2 * width_, x.dtype());
  all.ViewRows(cache.first_new, x.rows()).CopyFrom(projected.ViewColumns(width_, 2 * width_));
  return Attend(context, query, all.ViewColumns(0, width_), all.ViewColumns(width_, width_), sentences, cache.keys,
                cache.key_rows, attention);
}

Tensor MultiHeadAttention::Cross(Context& context, const Tensor& x, const Sequences& queries,
                                 const Tensor& keys_and_values, const Sequences& keys) const {
  return Attend(context, (*query_)(context, x), ops::Columns(keys_and_values, 0, width_),
                ops::Columns(keys_and_values, width_, width_), queries, keys, {},
                {.heads = config_.heads, .scale = config_.scale, .dropout = config_.dropout});
}

Tensor MultiHeadAttention::KeysAndValues(Context& context, const Tensor& memory) const {
  return (*key_value_)(context, memory);
}

Tensor MultiHeadAttention::Attend(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                                  const Sequences& queries, const Sequences& keys,
                                  std::span<const std::int32_t> key_rows,
                                  const ScaledDotProductAttention& attention) const {
  const bool wanted = !context.last_cross_attention ||
                      (kind_ == AttentionKind::cross && layer_ + 1 == std::ssize(context.cache->layers));
  if (context.sink && wanted)
    for (std::size_t sentence = 0; sentence < queries.size(); ++sentence)
      context.sink({kind_, layer_, static_cast<std::int32_t>(sentence),
                    attention.Weights(query, key, queries, keys, static_cast<std::int32_t>(sentence), key_rows)});
  return output_(context, attention(context, query, key, value, queries, keys, key_rows));
}

}  // namespace headlight
