// The encoders of DINOv2 (Oquab et al., "DINOv2: Learning Robust Visual Features without Supervision", 2023), with
// optional registers (Darcet et al., "Vision Transformers Need Registers", 2024), and of DINOv3 (Siméoni et al., 2025).
// Those of the first DINO are ViTs (models/vit.h).
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

class ConfigTable;  // io/config_table.h

/// v2: a ViT with layer scale. v2_registers: with registers, which are tokens without a position whose outputs are not
/// used. v3: with registers, and rotary positions instead of learned positional embeddings.
enum class DinoKind { v2, v2_registers, v3 };

/// The defaults are DINOv2-B/14's.
struct DinoConfig {
  DinoKind kind = DinoKind::v2;
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn_factor = 4;  ///< v2: factor of the ffn dimension
  std::int64_t ffn = 1536;      ///< v3
  Activation activation = Activation::gelu;
  bool gated = false;            ///< SwiGLU (Shazeer, "GLU Variants Improve Transformer", 2020)
  double dropout = 0;            ///< of embeddings
  double attention_dropout = 0;  ///< of attention weights
  double norm_epsilon = 1e-6;
  double layer_scale = 1;  ///< initial value
  Grid image = {224, 224}, patch = {14, 14};
  std::int64_t channels = 3;
  std::int64_t registers = 0;
  bool mask = true;  ///< has a learned mask token for masked patches
  bool biases = true, key_bias = true, output_bias = true, ffn_biases = true;
  double rotary_base = 100;  ///< v3
  bool classes = false;      ///< v2: scored from the class token's state and the mean of the patches' states
  std::vector<std::string> labels = {};
  std::string scope = "dinov2";  ///< prefix of the encoder's parameter names; empty in checkpoints of the encoder only
};
HEADLIGHT_API void Describe(ConfigTable& table, DinoConfig& config);

/// x + s * Attention(LayerNorm(x)), then x + s * FeedForward(LayerNorm(x)), with a learned s per feature: layer scale
/// (Touvron et al., "Going deeper with Image Transformers", 2021, eq. 3).
class HEADLIGHT_API DinoLayer {
 public:
  DinoLayer(const Scope& scope, const DinoConfig& config, int layer);
  /// [tokens, model] to [tokens, model]. `angles` is null without rotary positions.
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
  /// Declares the parameters; parameters().Initialise(seed) or LoadModel sets their values. Throws Error naming an
  /// invalid hyperparameter.
  explicit Dino(const DinoConfig& config, DType dtype = DType::float32);

  EncodedImages Encode(Context& context, std::span<const Tensor> images,
                       std::span<const std::uint8_t> masked = {}) const override;
  Tensor Pool(Context& context, const EncodedImages& encoded) const override;  ///< the class token's state
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
