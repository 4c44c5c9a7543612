// DALL-E (Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, section 2.2): one causal decoder reads a text and
// writes the codes of an image. As DALLE-pytorch builds it without its rotary positions and shifted tokens: unlike in
// the paper, sublayers are scaled (Touvron et al., "Going deeper with Image Transformers", 2021, section 2) and
// feed-forward networks are gated (Shazeer, "GLU Variants Improve Transformer", 2020).
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

class ConfigTable;  // io/config_table.h

struct DalleConfig {
  std::int64_t text_vocabulary = 10000;  // the tokenizer's
  std::int32_t text_positions = 256;     // of every text, which is padded to it
  std::int64_t codes = 512;              // that the discrete VAE has
  std::int32_t side = 32;                // codes of an image's side
  std::int64_t model = 512;
  int layers = 12;
  std::int32_t heads = 8;
  std::int64_t head_dim = 64;
  std::int64_t ffn = 2048;
  std::vector<GridAttentionKind> kinds = {};  // of each layer's attention
  double dropout = 0;                         // of every sublayer's output
  double attention_dropout = 0;               // of attention weights

  std::int64_t cells() const { return std::int64_t{side} * side; }
  // Each position of a text has a padding token of its own, behind the vocabulary.
  std::int64_t text_ids() const { return text_vocabulary + text_positions; }
};
HEADLIGHT_API void Describe(ConfigTable& table, DalleConfig& config);

// x + scale * Attention(LayerNorm(x)), then x + scale * (GEGLU) FeedForward(LayerNorm(x)).
class HEADLIGHT_API DalleLayer {
 public:
  DalleLayer(const Scope& scope, const DalleConfig& config, int layer);
  Tensor operator()(Context& context, const Tensor& x, const GridPass& pass) const;  // [tokens, model] to the same

 private:
  double dropout_;
  LayerNorm attention_norm_, feed_forward_norm_;
  GridAttention attention_;
  GatedFeedForward feed_forward_;
  const Parameter *attention_scale_, *feed_forward_scale_;
};

class HEADLIGHT_API Dalle : public TextToImageModel {
 public:
  // Its parameters are declared, not yet filled: parameters().Initialise(seed), or LoadModel. Throws Error naming the
  // hyperparameter and the rule where there can be no such model.
  explicit Dalle(const DalleConfig& config, DType dtype = DType::float32);

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override;
  Tensor OutputBias(Context& context) const override { return context.Use(*code_bias_); }  // [codes]
  // A start, then the text's ids, filled up with padding, for which id 0 stands too.
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
