// ImageGPT (Chen et al., "Generative Pretraining from Pixels", 2020), a GPT-2 for images. The tokens are the pixels,
// row by row, quantized to a small palette of colors.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/language_model.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of the paper's iGPT-S, for images of 32 x 32 pixels in 512 colors.
struct ImageGptConfig {
  std::int64_t model = 512;
  int layers = 24;
  std::int32_t heads = 8;
  std::int64_t ffn = 2048;
  Activation activation = Activation::quick_gelu;
  double dropout = 0.1;            ///< dropout rate of the output of every sublayer
  double embedding_dropout = 0.1;  ///< dropout rate of the sum of embeddings
  double attention_dropout = 0.1;  ///< dropout rate of the attention weights
  double norm_epsilon = 1e-5;
  std::int64_t vocabulary = 513;          ///< the number of colors plus one for the start token
  std::int64_t positions = 1024;          ///< maximum length: the start token and all pixels except the last
  bool scale_attention = true;            ///< if true, scores are multiplied by 1 / sqrt(head_dim)
  bool scale_attention_by_layer = false;  ///< if true, scores are also multiplied by 1 / (layer + 1)
  /// The heads. If the output table is tied to the embeddings, the start token also has a logit.
  bool next_color = true, tie_output = false, classes = false;
  std::vector<std::string> labels = {};
  std::string scope = "transformer";  ///< prefix of all names except the heads; empty in checkpoints without heads

  std::int32_t start_id() const { return static_cast<std::int32_t>(vocabulary - 1); }
};
HEADLIGHT_API void Describe(ConfigTable& table, ImageGptConfig& config);

/// Computes x + Attention(RmsNorm(x)), then x + FeedForward(RmsNorm(x)).
class HEADLIGHT_API ImageGptLayer {
 public:
  ImageGptLayer(const Scope& scope, const ImageGptConfig& config, int layer);
  Tensor operator()(Context& context, const Tensor& x,
                    const Sequences& images) const;  ///< maps [tokens, model] to [tokens, model]

 private:
  double dropout_;
  RmsNorm attention_norm_;
  MultiHeadAttention attention_;
  RmsNorm feed_forward_norm_;
  FeedForward feed_forward_;
};

/// A language model whose texts are images. A text consists of the start token and the colors of the pixels.
class HEADLIGHT_API ImageGpt : public LanguageModel {
 public:
  static constexpr std::string_view kKind = "image generation model";  ///< the model has no tokenizer

  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit ImageGpt(const ImageGptConfig& config, DType dtype = DType::float32);

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& images) const override;
  /// Returns class logits [images, labels] computed from the mean state of each image. Throws Error if the model has no
  /// classes.
  Tensor ClassLogits(Context& context, const Tensor& hidden, const Sequences& images) const;

  const ImageGptConfig& config() const { return config_; }
  Json::Object Description() const override;
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override { return SizesOfStack(config_); }
  void AddOutputs(Context& context, const Tensor& hidden, const Sequences& images, NamedTensors& out) const override;

 private:
  ImageGptConfig config_;
  std::optional<Embedding> embedding_;
  std::deque<ImageGptLayer> layers_;
  std::optional<RmsNorm> final_norm_;
  std::optional<Linear> classes_;
};

}  // namespace headlight
