// The decoder-only Transformers GPT (Radford et al., "Improving Language Understanding by Generative Pre-Training",
// 2018), GPT-2 (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019) and GPT-3 (Brown et al.,
// "Language Models are Few-Shot Learners", 2020). GPT-Neo (Black et al., 2021) implements the architecture of GPT-3.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/language_model.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/transformer_layers.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// gpt: post-norm layers. gpt2: pre-norm layers and a final norm. gpt_neo: GPT-2 with alternating dense and banded
/// attention, unscaled scores, and no biases of queries, keys and values.
enum class GptLayout { gpt, gpt2, gpt_neo };

/// The defaults are the settings of the smallest GPT-2. GPT and "GPT-3 Small" (table 2.1) have the same sizes.
struct GptConfig {
  GptLayout layout = GptLayout::gpt2;
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn = 3072;  ///< always 4 * model in GPT
  Activation activation = Activation::gelu_tanh;
  double dropout = 0.1;            ///< dropout rate of the output of every sublayer
  double embedding_dropout = 0.1;  ///< dropout rate of the sum of embeddings
  double attention_dropout = 0.1;  ///< dropout rate of the attention weights
  double norm_epsilon = 1e-5;
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 1024;
  std::int32_t end_id = 50256;                   ///< -1 if there is none
  std::vector<std::int32_t> other_end_ids = {};  ///< additional tokens that end a text
  bool scale_attention = true;                   ///< gpt2: if true, scores are multiplied by 1 / sqrt(head_dim)
  bool scale_attention_by_layer = false;         ///< gpt2: if true, scores are also multiplied by 1 / (layer + 1)
  std::vector<bool> banded = {false, true};      ///< gpt_neo: for each layer, true if it is banded; the pattern repeats
  std::int32_t window = 256;  ///< gpt_neo: in a banded layer, a token attends to this many tokens, including itself
  bool cross_attention =
      false;               ///< gpt2: if true, layers have cross-attention, as in the decoder of an encoder-decoder
  bool tie_output = true;  ///< if true, the embedding table is also the output projection
  std::string scope = "transformer";  ///< prefix of all names except the output table; empty in the first checkpoints

  bool IsBanded(int layer) const {
    return layout == GptLayout::gpt_neo && banded[static_cast<std::size_t>(layer) % banded.size()];
  }
};
HEADLIGHT_API void Describe(ConfigTable& table, GptConfig& config);

/// In GPT, computes LayerNorm(x + Attention(x)), then LayerNorm(x + FeedForward(x)). In the other layouts, computes x +
/// Attention(LayerNorm(x)), then x + CrossAttention(LayerNorm(x)) if present, then x + FeedForward(LayerNorm(x)).
class HEADLIGHT_API GptLayer {
 public:
  GptLayer(const Scope& scope, const GptConfig& config, int layer);
  /// Maps [tokens, model] to [tokens, model]. `memory` is null without cross-attention.
  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const Memory* memory) const;

 private:
  bool post_norm_;
  double dropout_;
  LayerNorm attention_norm_;
  MultiHeadAttention attention_;
  std::optional<LayerNorm> cross_attention_norm_;
  std::optional<MultiHeadAttention> cross_attention_;
  LayerNorm feed_forward_norm_;
  FeedForward feed_forward_;
};

/// The embeddings, the layers, and the final norm if the layout has one.
class HEADLIGHT_API GptStack {
 public:
  GptStack(const Scope& scope, const GptConfig& config);
  /// Decodes texts (see LanguageModel::Decode). `memory` is null without cross-attention.
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                    const Memory* memory = nullptr) const;
  const TokenEmbedding& tokens() const { return *tokens_; }
  const Parameter& table() const { return tokens_->table(); }  // token embeddings, [vocab, model]

 private:
  std::optional<TokenEmbedding> tokens_;
  std::optional<Embedding> embedding_;
  std::deque<GptLayer> layers_;
  std::optional<LayerNorm> final_norm_;
};

class HEADLIGHT_API Gpt : public LanguageModel {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Gpt(const GptConfig& config, DType dtype = DType::float32);

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override {
    return stack_(context, ids, texts);
  }
  const GptConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 protected:
  Json::Object LayerSizes() const override { return SizesOfStack(config_); }

 private:
  GptConfig config_;
  GptStack stack_;
};

/// Returns the names of each layer's causal masks. Files contain them in addition to the parameters.
std::vector<std::string> GptMasks(const GptConfig& config, const std::string& prefix);

}  // namespace headlight
