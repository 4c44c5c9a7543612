// GPT-3 (Brown et al., "Language Models are Few-Shot Learners", 2020): GPT-2 with attention that is dense in one layer
// and banded in the next. On disk it is GPT-Neo (Black et al., 2021), which is that but for scores that are not scaled
// and queries, keys and values without a bias.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/language_model.h"
#include "headlight/nn/layers.h"

namespace headlight {

// GPT-Neo of 125 million parameters, whose sizes are those of "GPT-3 Small" (table 2.1), unless told otherwise.
struct Gpt3Config {
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn = 3072;
  std::vector<bool> banded = {false, true};  // a layer's attention: the dense and the banded ones, again and again
  std::int32_t window = 256;                 // of a banded one: a token sees itself and so many before it, less one
  Activation activation = Activation::gelu_tanh;
  double dropout = 0;            // of every sublayer's output
  double embedding_dropout = 0;  // of the sum of embeddings
  double attention_dropout = 0;  // of attention weights
  double norm_epsilon = 1e-5;
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 2048;
  std::int32_t end_id = 50256;        // -1: none
  bool tie_output = true;             // the words' table also scores the next word
  std::string scope = "transformer";  // of the names of all but the output table; may be empty

  bool IsBanded(int layer) const { return banded[static_cast<std::size_t>(layer) % banded.size()]; }
};

// Throws Error naming the hyperparameter and the rule where no such model can be.
HEADLIGHT_API void CheckConfig(const Gpt3Config& config);

// x + Attention(LayerNorm(x)), then x + FeedForward(LayerNorm(x)), as in GPT-2.
class HEADLIGHT_API Gpt3Layer {
 public:
  Gpt3Layer(const Scope& scope, const Gpt3Config& config, int layer);
  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts) const;  // [tokens, model] to the same

 private:
  double dropout_;
  LayerNorm attention_norm_;
  MultiHeadAttention attention_;
  LayerNorm feed_forward_norm_;
  FeedForward feed_forward_;
};

class HEADLIGHT_API Gpt3 : public LanguageModel {
 public:
  // Its parameters are declared, not yet filled: parameters().Initialise(seed), or Load.
  explicit Gpt3(const Gpt3Config& config, DType dtype = DType::float32);

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override;
  ops::Weight OutputWeight(Context& context) const override { return context.UseWeight(*output_); }
  const Limits& limits() const override { return limits_; }
  const Gpt3Config& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 private:
  Gpt3Config config_;
  Limits limits_;
  const Parameter* output_;
  std::optional<Embedding> embedding_;
  std::deque<Gpt3Layer> layers_;
  std::optional<LayerNorm> final_norm_;
};

}  // namespace headlight
