// GPT-2 (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019): a Transformer's decoder without
// an encoder, with its norms moved in front of the sublayers.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/language_model.h"
#include "headlight/nn/layers.h"

namespace headlight {

// The smallest of the paper's table 2, 124 million parameters, unless told otherwise.
struct Gpt2Config {
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn = 3072;
  Activation activation = Activation::gelu_tanh;
  double dropout = 0.1;            // of every sublayer's output
  double embedding_dropout = 0.1;  // of the sum of embeddings
  double attention_dropout = 0.1;  // of attention weights
  double norm_epsilon = 1e-5;
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 1024;
  std::int32_t end_id = 50256;            // -1: none
  bool scale_attention = true;            // scores by 1 / sqrt(head_dim)
  bool scale_attention_by_layer = false;  // and by 1 / (layer + 1)
  bool tie_output = true;                 // the words' table also scores the next word
  std::string scope = "transformer";      // of the names of all but the output table; empty in the first checkpoints
};

// Throws Error naming the hyperparameter and the rule where no such model can be.
HEADLIGHT_API void CheckConfig(const Gpt2Config& config);

// x + Attention(LayerNorm(x)), then x + FeedForward(LayerNorm(x)) (section 2.3).
class HEADLIGHT_API Gpt2Layer {
 public:
  Gpt2Layer(const Scope& scope, const Gpt2Config& config, int layer);
  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts) const;  // [tokens, model] to the same

 private:
  double dropout_;
  LayerNorm attention_norm_;
  MultiHeadAttention attention_;
  LayerNorm feed_forward_norm_;
  FeedForward feed_forward_;
};

class HEADLIGHT_API Gpt2 : public LanguageModel {
 public:
  // Its parameters are declared, not yet filled: parameters().Initialise(seed), or Load.
  explicit Gpt2(const Gpt2Config& config, DType dtype = DType::float32);

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override;
  ops::Weight OutputWeight(Context& context) const override { return context.UseWeight(*output_); }
  const Limits& limits() const override { return limits_; }
  const Gpt2Config& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 private:
  Gpt2Config config_;
  Limits limits_;
  const Parameter* output_;
  std::optional<Embedding> embedding_;
  std::deque<Gpt2Layer> layers_;
  std::optional<LayerNorm> final_norm_;
};

}  // namespace headlight
