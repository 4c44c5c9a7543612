// DALL-E (Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, section 2.2), a causal decoder whose input is a
// text and whose output is the codes of an image. The architecture is taken from DALLE-pytorch, without rotary
// positions and token shift. Unlike in the paper, sublayers are scaled (Touvron et al., "Going deeper with Image
// Transformers", 2021, section 2) and feed-forward networks are gated (Shazeer, "GLU Variants Improve Transformer",
// 2020).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/nn/grid_attention.h"
#include "headlight/nn/layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

struct DalleConfig {
  std::int64_t text_vocabulary = 10000;  ///< size of the tokenizer's vocabulary
  std::int32_t text_positions = 256;     ///< texts are padded to this length
  std::int64_t codes = 512;              ///< number of codes of the discrete VAE
  std::int32_t side = 32;                ///< number of codes per side of an image
  std::int64_t model = 512;
  int layers = 12;
  std::int32_t heads = 8;
  std::int64_t head_dim = 64;
  std::int64_t ffn = 2048;
  std::vector<GridAttentionKind> kinds = {};  ///< attention type of each layer
  double dropout = 0;                         ///< dropout rate of the output of every sublayer
  double attention_dropout = 0;               ///< dropout rate of the attention weights

  std::int64_t cells() const { return std::int64_t{side} * side; }
  /// Returns the number of text ids. Each text position has its own padding token. The ids of padding tokens follow the
  /// vocabulary.
  std::int64_t text_ids() const { return text_vocabulary + text_positions; }
};
HEADLIGHT_API void Describe(ConfigTable& table, DalleConfig& config);

/// Computes x + scale * Attention(LayerNorm(x)), then x + scale * (GEGLU) FeedForward(LayerNorm(x)).
class HEADLIGHT_API DalleLayer {
 public:
  DalleLayer(const Scope& scope, const DalleConfig& config, int layer);
  Tensor operator()(Context& context, const Tensor& x,
                    const GridPass& pass) const;  ///< maps [tokens, model] to [tokens, model]

 private:
  double dropout_;
  LayerNorm attention_norm_, feed_forward_norm_;
  GridAttention attention_;
  GatedFeedForward feed_forward_;
  const Parameter *attention_scale_, *feed_forward_scale_;
};

class HEADLIGHT_API Dalle : public TextToImageModel {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Dalle(const DalleConfig& config, DType dtype = DType::float32);

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override;
  Tensor OutputBias(Context& context) const override { return context.Use(*code_bias_); }  // [codes]
  /// Returns the start token, the text's ids and padding. Id 0 in the text also means padding.
  std::vector<std::int32_t> Prompt(std::span<const std::int32_t> text) const override;

  ops::Weight TextWeight(Context& context) const override { return context.UseWeight(*text_head_); }
  Tensor TextBias(Context& context) const override { return context.Use(*text_bias_); }

  const DalleConfig& config() const { return config_; }
  Json::Object Description() const override;
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override { return SizesOfStack(config_); }

 private:
  Tensor Embed(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
               std::span<const std::int32_t> first_positions) const;

  DalleConfig config_;
  GridLayout layout_;
  std::optional<TokenEmbedding> texts_, codes_;
  std::optional<PositionalEncoding> text_positions_, rows_, columns_;
  std::deque<DalleLayer> layers_;
  std::optional<LayerNorm> final_norm_;
  const Parameter *text_head_ = nullptr, *text_bias_ = nullptr, *code_bias_ = nullptr;
};

}  // namespace headlight
