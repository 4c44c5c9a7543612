// CLIP (Radford et al., "Learning Transferable Visual Models From Natural Language Supervision", 2021). A Vision
// Transformer for images and a causal Transformer for texts compute embeddings in a common space.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/image_embedding.h"
#include "headlight/nn/layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The sizes of a tower's layers. The defaults are the sizes of the text tower of CLIP-ViT-B/32.
struct ClipTowerConfig {
  std::int64_t model = 512;
  int layers = 12;
  std::int32_t heads = 8;
  std::int64_t ffn = 2048;
  Activation activation = Activation::quick_gelu;
  double attention_dropout = 0;  ///< dropout rate of the attention weights
  double norm_epsilon = 1e-5;
};

struct ClipTextTowerConfig : ClipTowerConfig {
  std::int64_t vocabulary = 49408;
  std::int64_t positions = 77;  ///< the maximum length of a text in tokens
};

/// The value of end_id in the configurations of the first published folders. With this value, the text embedding is
/// computed from the token with the largest id.
inline constexpr std::int32_t kLargestIdEnds = 2;

struct ClipTextConfig : ClipTextTowerConfig {
  std::int32_t end_id = 49407;  ///< the first token with this id gives the text embedding; may be kLargestIdEnds
};
HEADLIGHT_API void Describe(ConfigTable& table, ClipTextConfig& config);

struct ClipImageConfig : ClipTowerConfig {
  ClipImageConfig() : ClipTowerConfig{.model = 768, .heads = 12, .ffn = 3072} {}
  Grid image = {224, 224}, patch = {32, 32};  ///< in pixels
  std::int64_t channels = 3;
};
HEADLIGHT_API void Describe(ConfigTable& table, ClipImageConfig& config);

/// The defaults are the settings of CLIP-ViT-B/32.
struct ClipConfig {
  std::optional<ClipTextConfig> text = ClipTextConfig();  ///< empty if the folder has only an image tower
  std::optional<ClipImageConfig> image = ClipImageConfig();
  std::optional<std::int64_t> vector = 512;  ///< size of the embeddings; empty if a single tower has no projection
  double logit_scale = 2.6592;               ///< initial value: ln(1 / 0.07)
  /// Prefixes of the towers' parameter names. Newer versions of Transformers save a single tower without a prefix.
  std::string text_scope = "text_model", image_scope = "vision_model";
};
HEADLIGHT_API void Describe(ConfigTable& table, ClipConfig& config);

/// A stack of layers that compute x + Attention(LayerNorm(x)), then x + FeedForward(LayerNorm(x)).
class HEADLIGHT_API ClipLayers {
 public:
  ClipLayers(const Scope& scope, const ClipTowerConfig& config, bool causal);
  Tensor operator()(Context& context, Tensor x,
                    const Sequences& sequences) const;  ///< maps [tokens, model] to [tokens, model]

 private:
  struct Layer {
    LayerNorm attention_norm;
    MultiHeadAttention attention;
    LayerNorm feed_forward_norm;
    FeedForward feed_forward;
  };
  std::deque<Layer> layers_;
  bool causal_;
};

/// The text tower: token and positional embeddings, layers, and a LayerNorm.
class HEADLIGHT_API ClipTextTower {
 public:
  /// `token_deviation` and `position_deviation` are the standard deviations of the initial token and position tables.
  ClipTextTower(const Scope& scope, const ClipTextTowerConfig& config, double token_deviation,
                double position_deviation, bool causal);
  /// Encodes ids [tokens] of the texts to states [tokens, model].
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const;

 private:
  Embedding embedding_;
  ClipLayers layers_;
  LayerNorm norm_;
};

class HEADLIGHT_API Clip : public DualEncoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Clip(const ClipConfig& config, DType dtype = DType::float32);

  EncodedImages EncodeImages(Context& context, std::span<const Tensor> images) const override;
  Tensor PoolImages(Context& context, const EncodedImages& encoded) const override;
  Tensor EncodeTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override;
  Tensor PoolTexts(Context& context, const Tensor& hidden, std::span<const std::int32_t> ids,
                   const Sequences& texts) const override;

  const ClipConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override;

 private:
  struct ImageTower {
    ImageEmbedding embedding;
    LayerNorm first_norm;
    ClipLayers layers;
    LayerNorm pooled_norm;
  };

  ClipConfig config_;
  std::optional<ImageTower> images_;
  std::optional<ClipTextTower> texts_;
};

}  // namespace headlight
