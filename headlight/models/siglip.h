// SigLIP (Zhai et al., "Sigmoid Loss for Language Image Pre-Training", 2023), which has CLIP's two towers with a
// sigmoid loss per pair. The states of an image are pooled by attention. Texts have bidirectional attention, and the
// last token's state gives the embedding. SigLIP 2 with fixed image sizes (Tschannen et al., 2025) has the same
// architecture.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/models/clip.h"

namespace headlight {

/// The sizes of the layers in both towers of SigLIP-B/16.
inline constexpr ClipTowerConfig kSiglipTower = {
    .model = 768, .heads = 12, .ffn = 3072, .activation = Activation::gelu_tanh, .norm_epsilon = 1e-6};

/// Every text is padded to `positions` tokens. Its embedding is computed from the last token's state.
struct SiglipTextConfig : ClipTextTowerConfig {
  SiglipTextConfig() : ClipTextTowerConfig{kSiglipTower, /*vocabulary=*/32000, /*positions=*/64} {}
  std::optional<std::int64_t> vector = {};  ///< size of the text embeddings; default: `model`
};
HEADLIGHT_API void Describe(ConfigTable& table, SiglipTextConfig& config);

struct SiglipImageConfig : ClipTowerConfig {
  SiglipImageConfig() : ClipTowerConfig(kSiglipTower) {}
  Grid image = {224, 224}, patch = {16, 16};  ///< in pixels
  std::int64_t channels = 3;
};
HEADLIGHT_API void Describe(ConfigTable& table, SiglipImageConfig& config);

/// The defaults are the settings of SigLIP-B/16.
struct SiglipConfig {
  std::optional<SiglipTextConfig> text = SiglipTextConfig();  ///< empty if the folder has no text tower
  std::optional<SiglipImageConfig> image = SiglipImageConfig();
  /// Prefixes of the towers' parameter names. They are empty in newer folders with one tower.
  std::string text_scope = "text_model", image_scope = "vision_model";
};
HEADLIGHT_API void Describe(ConfigTable& table, SiglipConfig& config);

class HEADLIGHT_API Siglip : public DualEncoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Siglip(const SiglipConfig& config, DType dtype = DType::float32);

  EncodedImages EncodeImages(Context& context, std::span<const Tensor> images) const override;
  Tensor PoolImages(Context& context, const EncodedImages& encoded) const override;
  Tensor EncodeTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override;
  /// Applies a linear layer to the last hidden state of each text. Returns the embeddings before normalization.
  Tensor PoolTexts(Context& context, const Tensor& hidden, std::span<const std::int32_t> ids,
                   const Sequences& texts) const override;

  const SiglipConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override;

 private:
  // Attention pooling with one learned query. Computes x = Attention(probe, states), then x +
  // FeedForward(LayerNorm(x)).
  struct AttentionPool {
    const Parameter *probe, *weight, *bias;  ///< projections of query, key and value, concatenated
    Linear output;
    LayerNorm norm;
    FeedForward feed_forward;
  };
  struct ImageTower {
    ImageEmbedding embedding;
    ClipLayers layers;
    LayerNorm norm;
    AttentionPool pool;
  };
  struct TextTower {
    ClipTextTower tower;
    Linear head;
  };

  SiglipConfig config_;
  std::optional<ImageTower> images_;
  std::optional<TextTower> texts_;
};

}  // namespace headlight
