// The layers of the Transformer (Vaswani et al., "Attention Is All You Need", 2017, section 3.1, figure 1), and its
// encoder and decoder stacks.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/memory.h"

namespace headlight {

/// The position of norms. post: LayerNorm(x + Sublayer(x)), as in the paper. pre: x + Sublayer(LayerNorm(x)), with a
/// final LayerNorm after the last layer (Xiong et al., "On Layer Normalization in the Transformer Architecture", 2020).
enum class NormPosition { post, pre };

/// The names of an encoder's layers and their modules in a checkpoint.
struct EncoderLayerNames {
  std::string layers = "layers", attention = "self_attn", attention_norm = "self_attn_layer_norm";
  AttentionNames projections = {};
  std::array<std::string, 2> feed_forward = {"fc1", "fc2"};
  std::string feed_forward_norm = "final_layer_norm";
};

/// The sizes and dropout rates of a layer. The defaults are from the paper's base model.
struct TransformerLayerConfig {
  std::int64_t model = 512;
  std::int32_t heads = 8;
  std::int64_t ffn = 2048;
  Activation activation = Activation::relu;
  NormPosition norm = NormPosition::post;
  double dropout = 0.1;            ///< dropout rate of embeddings and of the output of every sublayer
  double attention_dropout = 0.1;  ///< dropout rate of the attention weights
  double norm_epsilon = 1e-5;
  EncoderLayerNames names = {};
};

/// Self-attention, then a feed-forward network.
class HEADLIGHT_API EncoderLayer {
 public:
  EncoderLayer(const Scope& scope, const TransformerLayerConfig& config, int layer);
  /// Maps x [tokens, model] to the same shape. Queries and keys are rotated by `angles` unless it is null.
  Tensor operator()(Context& context, const Tensor& x, const Sequences& sequences,
                    const ops::RotaryAngles* angles = nullptr) const;

 private:
  TransformerLayerConfig config_;
  MultiHeadAttention self_attention_;
  LayerNorm self_attention_norm_;
  FeedForward feed_forward_;
  LayerNorm feed_forward_norm_;
};

/// Computes cross-attention to the memory or, with a cache in the context, to the cached memories of its texts.
HEADLIGHT_API Tensor CrossAttention(Context& context, const MultiHeadAttention& attention, const Tensor& x,
                                    const Sequences& sequences, const Memory& memory);

/// Begins a pass of a decoder with `layers` layers. With a cache in the context, calls DecoderCache::Append and returns
/// its positions. Without a cache, returns an empty vector.
HEADLIGHT_API std::vector<std::int32_t> BeginPass(Context& context, const Sequences& sequences, const Memory* memory,
                                                  std::size_t layers);

/// Masked self-attention, then optional cross-attention, then a feed-forward network.
class HEADLIGHT_API DecoderLayer {
 public:
  DecoderLayer(const Scope& scope, const TransformerLayerConfig& config, int layer, bool with_cross_attention = true);

  /// Maps x [target tokens, model] to the same shape. `memory` is null for a layer without cross-attention.
  Tensor operator()(Context& context, const Tensor& x, const Sequences& sequences, const Memory* memory) const;

 private:
  TransformerLayerConfig config_;
  MultiHeadAttention self_attention_;
  LayerNorm self_attention_norm_;
  std::optional<MultiHeadAttention> cross_attention_;
  std::optional<LayerNorm> cross_attention_norm_;
  FeedForward feed_forward_;
  LayerNorm feed_forward_norm_;
};

/// Embeddings, then a stack of encoder layers. On its own, it is an encoder-only model.
class HEADLIGHT_API Encoder {
 public:
  Encoder(const Scope& scope, const TransformerLayerConfig& config, int layers, Embedding embedding);
  /// Maps ids [tokens] to [tokens, model].
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences) const;

 private:
  Embedding embedding_;
  std::deque<EncoderLayer> layers_;
  std::optional<LayerNorm> final_norm_;
};

/// Embeddings, then a stack of decoder layers with masked attention. Without cross-attention, it is a decoder-only
/// model.
class HEADLIGHT_API Decoder {
 public:
  Decoder(const Scope& scope, const TransformerLayerConfig& config, int layers, Embedding embedding,
          bool with_cross_attention = true);
  /// Maps ids [target tokens] to [target tokens, model]. With a cache in the context, the ids are the next tokens of
  /// each sequence, and the memory is projected only on the first call.
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                    const Memory* memory = nullptr) const;

 private:
  Embedding embedding_;
  std::deque<DecoderLayer> layers_;
  std::optional<LayerNorm> final_norm_;
};

}  // namespace headlight
