// DALL-E mini (Dayma et al., 2021) in the layout of min-dalle. The input of the encoder is a text, and a decoder with
// cross-attention generates the codes of an image. The layers are BART's layers without biases. Feed-forward networks
// are gated (Shazeer, "GLU Variants Improve Transformer", 2020). Every sublayer has a second norm (Shleifer et al.,
// "NormFormer: Improved Transformer Pretraining with Extra Normalization", 2021, figure 1).
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
#include "headlight/nn/transformer_layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of DALL-E mini. DALL-E mega has 24 layers, a model dimension of 2048, 32 heads and an
/// ffn dimension of 4096.
struct DalleMiniConfig {
  std::int64_t model = 1024;
  int encoder_layers = 12, decoder_layers = 12;
  std::int32_t encoder_heads = 16, decoder_heads = 16;
  std::int64_t encoder_ffn = 2730, decoder_ffn = 2730;
  Activation activation = Activation::gelu;
  double dropout = 0;            ///< dropout rate of embeddings and sublayers
  double attention_dropout = 0;  ///< dropout rate of the attention weights
  std::int64_t text_vocabulary = 50264;
  std::int32_t text_positions = 64;  ///< texts with start and end tokens are padded to this length
  std::int32_t text_start_id = 0, text_end_id = 2, text_pad_id = 1;
  std::int64_t codes = 16384;
  std::int32_t side = 16;         ///< number of codes per side of an image
  std::int32_t start_id = 16383;  ///< the decoder's first input token

  std::int64_t cells() const { return std::int64_t{side} * side; }
};
HEADLIGHT_API void Describe(ConfigTable& table, DalleMiniConfig& config);

/// Computes x + LayerNorm(Attention(LayerNorm(x))). A decoder layer continues with cross-attention in the same form.
/// The last step is x + (LayerNorm(activation(y W0) * (y W1)) W2) with y = LayerNorm(x).
class HEADLIGHT_API DalleMiniLayer {
 public:
  /// Declares an encoder layer, or a decoder layer if `kind` is decoder_self. A decoder layer has causal self-attention
  /// and cross-attention. The positions and names of norms in `config` are ignored.
  DalleMiniLayer(const Scope& scope, const TransformerLayerConfig& config, AttentionKind kind, int layer);

  /// Maps x [tokens, model] to [tokens, model]. `memory` is null in an encoder.
  Tensor operator()(Context& context, const Tensor& x, const Sequences& sequences, const Memory* memory) const;

 private:
  struct Attention {
    Attention(const Scope& scope, const std::string& name, const TransformerLayerConfig& config, AttentionKind kind,
              int layer);
    LayerNorm before, after;
    MultiHeadAttention attention;
  };

  TransformerLayerConfig config_;
  Attention self_;
  std::optional<Attention> cross_;
  LayerNorm gate_norm_, inner_norm_;
  GatedFeedForward feed_forward_;
};

class HEADLIGHT_API DalleMini : public TextToImageModel {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit DalleMini(const DalleMiniConfig& config, DType dtype = DType::float32);

  /// Returns one row per id. The last id of a prompt and the codes have decoder states. The other ids of a prompt have
  /// encoder states. A prompt must be in a single pass.
  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override;
  /// Returns the text's start token, its ids without padding, its end token, and padding.
  std::vector<std::int32_t> Prompt(std::span<const std::int32_t> text) const override;

  const DalleMiniConfig& config() const { return config_; }
  Json::Object Description() const override;
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override { return SizesOfEncoderAndDecoder(config_); }

 private:
  Tensor Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const;
  Tensor Write(Context& context, std::span<const std::int32_t> codes, const Sequences& images,
               const Memory& memory) const;

  DalleMiniConfig config_;
  std::optional<Embedding> text_embedding_, code_embedding_;
  std::deque<DalleMiniLayer> encoder_, decoder_;
  std::optional<LayerNorm> encoder_norm_, decoder_norm_;
};

}  // namespace headlight
