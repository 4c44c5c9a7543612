// The Vision Transformer (Dosovitskiy et al., "An Image is Worth 16x16 Words", 2021), and DeiT (Touvron et al.,
// "Training data-efficient image transformers & distillation through attention", 2021), which adds a distillation
// token.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/image_embedding.h"
#include "headlight/nn/layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of the paper's ViT-B/16.
struct VitConfig {
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn = 3072;
  Activation activation = Activation::gelu;
  double dropout = 0;            ///< dropout rate of embeddings and sublayers
  double attention_dropout = 0;  ///< dropout rate of the attention weights
  double norm_epsilon = 1e-12;
  Grid image = {224, 224}, patch = {16, 16};  ///< in pixels
  std::int64_t channels = 3;
  bool biases = true;         ///< if true, query, key and value projections have biases
  bool distillation = false;  ///< DeiT: if true, there is a second token, whose state is trained to match a teacher
  /// The heads. Class logits are computed from the class token's state. With `distilled_classes`, DeiT averages these
  /// logits with logits from the distillation token's state.
  bool pooler = false, classes = false, distilled_classes = false, masked_pixels = false;
  std::optional<std::int64_t> pooled = {};  ///< size of the pooler's output; default: `model`
  Activation pooler_activation = Activation::tanh;
  std::vector<std::string> labels = {};
  bool mask = false;          ///< if true, there is a learned mask token for masked patches
  std::string scope = "vit";  ///< prefix of the encoder's parameter names; empty in checkpoints of the encoder only
};
HEADLIGHT_API void Describe(ConfigTable& table, VitConfig& config);

/// Computes x + Attention(LayerNorm(x)), then x + FeedForward(LayerNorm(x)).
class HEADLIGHT_API VitLayer {
 public:
  VitLayer(const Scope& scope, const VitConfig& config, int layer);
  Tensor operator()(Context& context, const Tensor& x,
                    const Sequences& images) const;  ///< maps [tokens, model] to [tokens, model]

 private:
  int layer_, layers_;
  double dropout_;
  LayerNorm attention_norm_;
  MultiHeadAttention attention_;
  LayerNorm feed_forward_norm_;
  FeedForward feed_forward_;
};

/// The embeddings, the layers and the final norm.
class HEADLIGHT_API VitEncoder {
 public:
  VitEncoder(const Scope& scope, const VitConfig& config);
  /// Encodes images (see ImageEncoder::Encode).
  EncodedImages operator()(Context& context, std::span<const Tensor> images,
                           std::span<const std::uint8_t> masked = {}) const;
  ImageEncoder::Limits limits() const { return embedding_.limits(); }

 private:
  ImageEmbedding embedding_;
  std::deque<VitLayer> layers_;
  std::optional<LayerNorm> norm_;
};

class HEADLIGHT_API Vit : public ImageEncoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Vit(const VitConfig& config, DType dtype = DType::float32);

  EncodedImages Encode(Context& context, std::span<const Tensor> images,
                       std::span<const std::uint8_t> masked = {}) const override {
    return encoder_(context, images, masked);
  }
  Tensor Pool(Context& context, const EncodedImages& encoded) const override;
  Tensor ClassLogits(Context& context, const EncodedImages& encoded) const override;
  Tensor Pixels(Context& context, const EncodedImages& encoded) const override;

  const VitConfig& config() const { return config_; }
  std::unique_ptr<ImageEncoder> WithClasses(const std::vector<std::string>& labels) const override;
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override { return SizesOfStack(config_); }
  void AddOutputs(Context& context, const EncodedImages& encoded, NamedTensors& out) const override;

 private:
  VitConfig config_;
  VitEncoder encoder_;
  std::optional<Linear> pooler_, classes_, distilled_classes_;
  const Parameter *pixels_weight_ = nullptr, *pixels_bias_ = nullptr;
};

}  // namespace headlight
