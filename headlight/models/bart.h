// BART (Lewis et al., "BART: Denoising Sequence-to-Sequence Pre-training for Natural Language Generation, Translation,
// and Comprehension", 2020): the Transformer with learned positional embeddings, a LayerNorm of the embeddings, and
// GELU. mBART (Liu et al., "Multilingual Denoising Pre-training for Neural Machine Translation", 2020) is BART with
// pre-norm layers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/kinds/layer_sizes.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of BART-large.
struct BartConfig {
  std::int64_t model = 1024;
  int encoder_layers = 12, decoder_layers = 12;
  std::int32_t encoder_heads = 16, decoder_heads = 16;
  std::int64_t encoder_ffn = 4096, decoder_ffn = 4096;
  Activation activation = Activation::gelu;
  NormPosition norm = NormPosition::post;  ///< pre-norm in mBART
  double dropout = 0.1;                    ///< dropout rate of embeddings and sublayers
  double attention_dropout = 0;            ///< dropout rate of the attention weights
  bool scale_embeddings = false;           ///< if true, embeddings are multiplied by sqrt(model)
  std::int64_t vocabulary = 50265;
  std::int64_t positions = 1024;
  std::int32_t start_id = 2, end_id = 2, pad_id = 1;
  std::string scope =
      "model";  ///< prefix of parameter names; empty in checkpoints of the model without the output bias
};
HEADLIGHT_API void Describe(ConfigTable& table, BartConfig& config);

class HEADLIGHT_API Bart : public EncoderDecoder {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Bart(const BartConfig& config, DType dtype = DType::float32);

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences) const override;
  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                const Memory& memory) const override;
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  const BartConfig& config() const { return config_; }

 protected:
  Json::Object LayerSizes() const override { return SizesOfEncoderAndDecoder(config_); }

 private:
  BartConfig config_;
  std::optional<Encoder> encoder_;
  std::optional<Decoder> decoder_;
};

}  // namespace headlight
