// BART (Lewis et al., "BART: Denoising Sequence-to-Sequence Pre-training for Natural Language Generation, Translation,
// and Comprehension", 2020): the Transformer with learned positions, a norm of the embeddings, and gelu. mBART (Liu et
// al., "Multilingual Denoising Pre-training for Neural Machine Translation", 2020) is that with pre-norm layers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/nn/encoder_decoder.h"

namespace headlight {

// BART-large unless told otherwise.
struct BartConfig {
  std::int64_t model = 1024;
  int encoder_layers = 12, decoder_layers = 12;
  std::int32_t encoder_heads = 16, decoder_heads = 16;
  std::int64_t encoder_ffn = 4096, decoder_ffn = 4096;
  Activation activation = Activation::gelu;
  NormPlace norm = NormPlace::post;  // pre in mBART
  double dropout = 0.1;              // of embeddings and sublayers
  double attention_dropout = 0;      // of attention weights
  bool scale_embeddings = false;     // by sqrt(model)
  std::int64_t vocabulary = 50265;
  std::int64_t positions = 1024;
  std::int32_t start_id = 2, end_id = 2, pad_id = 1;
  std::string scope = "model";  // of the names; empty where a checkpoint holds nothing else, not even an output bias
};

// Throws Error naming the hyperparameter and the rule where no such model can be.
HEADLIGHT_API void CheckConfig(const BartConfig& config);

class HEADLIGHT_API Bart : public EncoderDecoder {
 public:
  // Its parameters are declared, not yet filled: parameters().Initialise(seed), or Load.
  explicit Bart(const BartConfig& config, DType dtype = DType::float32);

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sentences) const override;
  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sentences,
                const Memory& memory) const override;
  ops::Weight OutputWeight(Context& context) const override { return context.UseWeight(*words_); }
  Tensor OutputBias(Context& context) const override {
    return output_bias_ == nullptr ? Tensor() : context.Use(*output_bias_);
  }
  const Limits& limits() const override { return limits_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  const BartConfig& config() const { return config_; }

 private:
  BartConfig config_;
  Limits limits_;
  const Parameter* words_;                  // also score the output's
  const Parameter* output_bias_ = nullptr;  // null where a checkpoint has none
  std::optional<Encoder> encoder_;
  std::optional<Decoder> decoder_;
};

}  // namespace headlight
