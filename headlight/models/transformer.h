// The Transformer (Vaswani et al., "Attention Is All You Need", 2017). Files have the format of MarianMT. Models with
// pre-norm layers and a final LayerNorm after each stack have the format of Pegasus.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/kinds/layer_sizes.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of the paper's base model (section 3 and table 3).
struct TransformerConfig {
  std::int64_t model = 512;
  int encoder_layers = 6, decoder_layers = 6;
  std::int32_t encoder_heads = 8, decoder_heads = 8;
  std::int64_t encoder_ffn = 2048, decoder_ffn = 2048;
  Activation activation = Activation::relu;
  NormPosition norm = NormPosition::post;
  double dropout = 0.1;            ///< dropout rate of embeddings and sublayers
  double attention_dropout = 0.1;  ///< dropout rate of the attention weights
  bool scale_embeddings = true;    ///< if true, embeddings are multiplied by sqrt(model) (section 3.4)
  bool tie_source_target = true;   ///< if true, source and target share one embedding table
  bool tie_output = true;          ///< if true, the target's embedding table is also the output projection
  std::int64_t source_vocabulary = 8000, target_vocabulary = 8000;
  std::int64_t positions = 512;
  std::int32_t start_id = 0, end_id = 0, pad_id = 0;
};
HEADLIGHT_API void Describe(ConfigTable& table, TransformerConfig& config);

class HEADLIGHT_API Transformer : public EncoderDecoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Transformer(const TransformerConfig& config, DType dtype = DType::float32);

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences) const override;
  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                const Memory& memory) const override;
  Json::Object Description() const override;
  /// Saves the model and generation_config.json.
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  const TransformerConfig& config() const { return config_; }

 protected:
  Json::Object LayerSizes() const override { return SizesOfEncoderAndDecoder(config_); }

 private:
  TransformerConfig config_;
  std::optional<Encoder> encoder_;
  std::optional<Decoder> decoder_;
};

}  // namespace headlight
