// DINOv2 (Oquab et al., "DINOv2: Learning Robust Visual Features without Supervision", 2023), with optional registers
// (Darcet et al., "Vision Transformers Need Registers", 2024), and DINOv3 (Siméoni et al., 2025). The encoders of the
// first DINO are ViTs (models/vit.h).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/image_embedding.h"
#include "headlight/nn/layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// v2: a ViT with layer scale. v2_registers: v2 with registers, which are tokens without a position and without an
/// output. v3: registers, and rotary positions instead of learned positional embeddings.
enum class DinoKind { v2, v2_registers, v3 };

/// The defaults are the settings of DINOv2-B/14.
struct DinoConfig {
  DinoKind kind = DinoKind::v2;
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn_factor = 4;  ///< v2: ratio of the ffn dimension to the model dimension
  std::int64_t ffn = 1536;      ///< v3: ffn dimension
  Activation activation = Activation::gelu;
  bool gated = false;            ///< if true, feed-forward networks are gated (SwiGLU)
  double dropout = 0;            ///< dropout rate of the embeddings
  double attention_dropout = 0;  ///< dropout rate of the attention weights
  double norm_epsilon = 1e-6;
  double layer_scale = 1;  ///< initial value of the layer scale
  Grid image = {224, 224}, patch = {14, 14};
  std::int64_t channels = 3;
  std::int64_t registers = 0;
  bool mask = true;  ///< if true, there is a learned mask token for masked patches
  bool biases = true, key_bias = true, output_bias = true, ffn_biases = true;
  double rotary_base = 100;  ///< v3: base of the rotary frequencies
  bool classes = false;      ///< v2: if true, there is a classifier of the class token's state and the mean patch state
  std::vector<std::string> labels = {};
  std::string scope = "dinov2";  ///< prefix of the encoder's parameter names; empty in checkpoints of the encoder only
};
HEADLIGHT_API void Describe(ConfigTable& table, DinoConfig& config);

/// Computes x + s * Attention(LayerNorm(x)), then x + s * FeedForward(LayerNorm(x)). The learned factor s per feature
/// is called layer scale (Touvron et al., "Going deeper with Image Transformers", 2021, eq. 3).
class HEADLIGHT_API DinoLayer {
 public:
  DinoLayer(const Scope& scope, const DinoConfig& config, int layer);
  /// Maps [tokens, model] to [tokens, model]. `angles` is null without rotary positions.
  Tensor operator()(Context& context, const Tensor& x, const Sequences& images, const ops::RotaryAngles* angles) const;

 private:
  int layer_, layers_;
  LayerNorm attention_norm_;
  MultiHeadAttention attention_;
  const Parameter* attention_scale_;
  LayerNorm feed_forward_norm_;
  std::variant<FeedForward, GatedFeedForward> feed_forward_;
  const Parameter* feed_forward_scale_;
};

class HEADLIGHT_API Dino : public ImageEncoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Dino(const DinoConfig& config, DType dtype = DType::float32);

  EncodedImages Encode(Context& context, std::span<const Tensor> images,
                       std::span<const std::uint8_t> masked = {}) const override;
  Tensor Pool(Context& context, const EncodedImages& encoded) const override;  ///< returns the class token's state
  Tensor ClassLogits(Context& context, const EncodedImages& encoded) const override;
  Tensor Pixels(Context& context, const EncodedImages& encoded) const override;

  const DinoConfig& config() const { return config_; }
  std::unique_ptr<ImageEncoder> WithClasses(const std::vector<std::string>& labels) const override;
  Json::Object Description() const override;
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override;

 private:
  ops::RotaryAngles Angles(const EncodedImages& encoded) const;

  DinoConfig config_;
  ImageEmbedding embedding_;
  std::deque<DinoLayer> layers_;
  std::optional<LayerNorm> norm_;
  std::optional<Linear> classes_;
};

}  // namespace headlight
