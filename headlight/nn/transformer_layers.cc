#include "headlight/nn/transformer_layers.h"

#include "headlight/nn/decoder_cache.h"

namespace headlight {
namespace {

MultiHeadAttentionConfig AttentionOf(const TransformerLayerConfig& config, const AttentionNames& names = {}) {
  return {.model = config.model, .heads = config.heads, .dropout = config.attention_dropout, .names = names};
}

template <typename Sublayer>
Tensor WithResidual(Context& context, const TransformerLayerConfig& config, const Tensor& x, const LayerNorm& norm,
                    const Sublayer& sublayer) {
  return config.norm == NormPosition::post ? PostNorm(context, x, norm, config.dropout, sublayer)
                                           : PreNorm(context, x, norm, config.dropout, sublayer);
}

}  // namespace

EncoderLayer::EncoderLayer(const Scope& scope, const TransformerLayerConfig& config, int layer)
    : config_(config),
      self_attention_(scope / config.names.attention, AttentionOf(config, config.names.projections),
                      AttentionKind::encoder_self, layer),
      self_attention_norm_(scope / config.names.attention_norm, config.model, config.norm_epsilon),
      feed_forward_(scope, config.model, config.ffn, config.activation, config.names.feed_forward),
      feed_forward_norm_(scope / config.names.feed_forward_norm, config.model, config.norm_epsilon) {}

Tensor EncoderLayer::operator()(Context& context, const Tensor& x, const Sequences& sequences,
                                const ops::RotaryAngles* angles) const {
  const Tensor attended = WithResidual(context, config_, x, self_attention_norm_, [&](Context&, const Tensor& input) {
    return self_attention_.Self(context, input, sequences, /*causal=*/false, {}, {.angles = angles});
  });
  return WithResidual(context, config_, attended, feed_forward_norm_, feed_forward_);
}

Tensor CrossAttention(Context& context, const MultiHeadAttention& attention, const Tensor& x,
                      const Sequences& sequences, const Memory& memory) {
  if (context.cache == nullptr)
    return attention.Cross(context, x, sequences, attention.KeysAndValues(context, memory.rows), memory.sequences);
  return attention.CrossOverCache(context, x, sequences);
}

std::vector<std::int32_t> BeginPass(Context& context, const Sequences& sequences, const Memory* memory,
                                    std::size_t layers) {
  if (context.cache == nullptr) return {};
  context.cache->SetLayers(layers);
  return context.cache->Append(sequences, memory);
}

DecoderLayer::DecoderLayer(const Scope& scope, const TransformerLayerConfig& config, int layer,
                           bool with_cross_attention)
    : config_(config),
      self_attention_(scope / "self_attn", AttentionOf(config), AttentionKind::decoder_self, layer),
      self_attention_norm_(scope / "self_attn_layer_norm", config.model),
      feed_forward_(scope, config.model, config.ffn, config.activation),
      feed_forward_norm_(scope / "final_layer_norm", config.model) {
  if (!with_cross_attention) return;
  cross_attention_.emplace(scope / "encoder_attn", AttentionOf(config), AttentionKind::cross, layer);
  cross_attention_norm_.emplace(scope / "encoder_attn_layer_norm", config.model);
}

Tensor DecoderLayer::operator()(Context& context, const Tensor& x, const Sequences& sequences,
                                const Memory* memory) const {
  Ensure(cross_attention_.has_value() == (memory != nullptr), "a decoder layer {} cross-attention is given {} memory",
         cross_attention_ ? "with" : "without", memory == nullptr ? "no" : "a");
  Tensor hidden = WithResidual(context, config_, x, self_attention_norm_, [&](Context&, const Tensor& input) {
    return self_attention_.Self(context, input, sequences, /*causal=*/true);
  });
  if (memory != nullptr)
    hidden = WithResidual(context, config_, hidden, *cross_attention_norm_, [&](Context&, const Tensor& input) {
      return CrossAttention(context, *cross_attention_, input, sequences, *memory);
    });
  return WithResidual(context, config_, hidden, feed_forward_norm_, feed_forward_);
}

Encoder::Encoder(const Scope& scope, const TransformerLayerConfig& config, int layers, Embedding embedding)
    : embedding_(std::move(embedding)) {
  for (int layer = 0; layer < layers; ++layer) layers_.emplace_back(scope / config.names.layers / layer, config, layer);
  if (config.norm == NormPosition::pre) final_norm_.emplace(scope / "layer_norm", config.model);
}

Tensor Encoder::operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences) const {
  Tensor hidden = embedding_(context, ids, sequences);
  for (const EncoderLayer& layer : layers_) hidden = layer(context, hidden, sequences);
  return final_norm_ ? (*final_norm_)(context, hidden) : hidden;
}

Decoder::Decoder(const Scope& scope, const TransformerLayerConfig& config, int layers, Embedding embedding,
                 bool with_cross_attention)
    : embedding_(std::move(embedding)) {
  for (int layer = 0; layer < layers; ++layer)
    layers_.emplace_back(scope / "layers" / layer, config, layer, with_cross_attention);
  if (config.norm == NormPosition::pre) final_norm_.emplace(scope / "layer_norm", config.model);
}

Tensor Decoder::operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                           const Memory* memory) const {
  Tensor hidden = embedding_(context, ids, sequences, BeginPass(context, sequences, memory, layers_.size()));
  for (const DecoderLayer& layer : layers_) hidden = layer(context, hidden, sequences, memory);
  return final_norm_ ? (*final_norm_)(context, hidden) : hidden;
}

}  // namespace headlight
