// The first GPT (Radford et al., "Improving Language Understanding by Generative Pre-Training", 2018): a Transformer's
// decoder without an encoder.
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

// The paper's model (section 4.1) unless told otherwise. The ffn dimension is 4 * model.
struct Gpt1Config {
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  Activation activation = Activation::gelu_tanh;
  double dropout = 0.1;            // of every sublayer's output
  double embedding_dropout = 0.1;  // of the sum of embeddings
  double attention_dropout = 0.1;  // of attention weights
  double norm_epsilon = 1e-5;
  std::int64_t vocabulary = 40478;
  std::int64_t positions = 512;
  std::int32_t end_id = -1;           // -1: none, as published
  bool tie_output = true;             // the words' table also scores the next word
  std::string scope = "transformer";  // of the names of all but the output table; may be empty
};

// Throws Error naming the hyperparameter and the rule where no such model can be.
HEADLIGHT_API void CheckConfig(const Gpt1Config& config);

// LayerNorm(x + Attention(x)), then LayerNorm(x + FeedForward(x)): the Transformer's layer without cross-attention.
class HEADLIGHT_API Gpt1Layer {
 public:
  Gpt1Layer(const Scope& scope, const Gpt1Config& config, int layer);
  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts) const;  // [tokens, model] to the same

 private:
  double dropout_;
  MultiHeadAttention attention_;
  LayerNorm attention_norm_;
  FeedForward feed_forward_;
  LayerNorm feed_forward_norm_;
};

class HEADLIGHT_API Gpt1 : public LanguageModel {
 public:
  // Its parameters are declared, not yet filled: parameters().Initialise(seed), or Load.
  explicit Gpt1(const Gpt1Config& config, DType dtype = DType::float32);

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override;
  ops::Weight OutputWeight(Context& context) const override { return context.UseWeight(*output_); }
  const Limits& limits() const override { return limits_; }
  const Gpt1Config& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 private:
  Gpt1Config config_;
  Limits limits_;
  const Parameter* output_;
  std::optional<Embedding> embedding_;
  std::deque<Gpt1Layer> layers_;
};

}  // namespace headlight
