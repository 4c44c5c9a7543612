// CLIP (Radford et al., "Learning Transferable Visual Models From Natural Language Supervision", 2021): a Vision
// Transformer for images and a causal Transformer for texts, which map to vectors in the same space.
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

class ConfigTable;  // io/config_table.h

/// The sizes of a tower's layers. The defaults are those of the text tower of CLIP-ViT-B/32.
struct ClipTowerConfig {
  std::int64_t model = 512;
  int layers = 12;
  std::int32_t heads = 8;
  std::int64_t ffn = 2048;
  Activation activation = Activation::quick_gelu;
  double attention_dropout = 0;  ///< of attention weights
  double norm_epsilon = 1e-5;
};

struct ClipTextTowerConfig : ClipTowerConfig {
  std::int64_t vocabulary = 49408;
  std::int64_t positions = 77;  ///< longest text, in tokens
};

/// The end_id of the first published folders: a text's vector is then computed from its token with the largest id.
inline constexpr std::int32_t kLargestIdEnds = 2;

struct ClipTextConfig : ClipTextTowerConfig {
  std::int32_t end_id =
      49407;  ///< a text's vector is computed from the state of the first end token; or kLargestIdEnds
};
HEADLIGHT_API void Describe(ConfigTable& table, ClipTextConfig& config);

struct ClipImageConfig : ClipTowerConfig {
  ClipImageConfig() : ClipTowerConfig{.model = 768, .heads = 12, .ffn = 3072} {}
  Grid image = {224, 224}, patch = {32, 32};  ///< pixels
  std::int64_t channels = 3;
};
HEADLIGHT_API void Describe(ConfigTable& table, ClipImageConfig& config);

/// The defaults are CLIP-ViT-B/32's.
struct ClipConfig {
  std::optional<ClipTextConfig> text = ClipTextConfig();  ///< a folder may have only one tower
  std::optional<ClipImageConfig> image = ClipImageConfig();
  std::optional<std::int64_t> vector = 512;  ///< size of the vectors; a single tower may have no projection
  double logit_scale = 2.6592;               ///< initial value: ln(1 / 0.07)
  /// Prefixes of the towers' parameter names; empty in newer folders with one tower.
  std::string text_scope = "text_model", image_scope = "vision_model";
};
HEADLIGHT_API void Describe(ConfigTable& table, ClipConfig& config);

/// Layers of x + Attention(LayerNorm(x)), then x + FeedForward(LayerNorm(x)).
class HEADLIGHT_API ClipLayers {
 public:
  ClipLayers(const Scope& scope, const ClipTowerConfig& config, bool causal);
  Tensor operator()(Context& context, Tensor x,
                    const Sequences& sequences) const;  ///< [tokens, model] to [tokens, model]

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
  /// The two deviations initialise the token and position tables.
  ClipTextTower(const Scope& scope, const ClipTextTowerConfig& config, double token_deviation,
                double position_deviation, bool causal);
  /// ids [tokens] of the texts to states [tokens, model].
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const;

 private:
  Embedding embedding_;
  ClipLayers layers_;
  LayerNorm norm_;
};

class HEADLIGHT_API Clip : public DualEncoder {
 public:
  /// Declares the parameters; parameters().Initialise(seed) or LoadModel sets their values. Throws Error naming an
  /// invalid hyperparameter.
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
