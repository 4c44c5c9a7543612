// Llama (Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023; "Llama 2", 2023; Grattafiori et
// al., "The Llama 3 Herd of Models", 2024). It is GPT-2 with three changes (LLaMA, section 2.2): norms without a mean
// (RMSNorm), a gated feed-forward network (SwiGLU), and rotary positions in every layer. Since Llama 2, several query
// heads may share a key and value head. These descendants have the same layers with other settings: Mistral (Jiang et
// al., "Mistral 7B", 2023), Qwen2 and Qwen3 (Yang et al., "Qwen2 Technical Report", 2024; "Qwen3 Technical Report",
// 2025), SmolLM3 (Bakouch et al., "SmolLM3: smol, multilingual, long-context reasoner", 2025), Phi-3 (Abdin et al.,
// "Phi-3 Technical Report", 2024) and Granite (Granite Team, "Granite 3.0 Language Models", 2024).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/models/files/layer_windows.h"
#include "headlight/models/files/rotary_decoder.h"
#include "headlight/models/files/rotary_settings.h"
#include "headlight/nn/attention.h"
#include "headlight/nn/layers.h"
#include "headlight/nn/query_key_norm.h"

namespace headlight {

/// The family, which determines the file format. The differences between the models are settings of LlamaConfig.
enum class LlamaFamily { llama, mistral, qwen2, qwen3, smollm3, phi3, granite };

/// The defaults are the settings of LLaMA 7B.
struct LlamaConfig {
  LlamaFamily family = LlamaFamily::llama;
  std::int64_t model = 4096;
  int layers = 32;
  std::int32_t heads = 32;
  std::int32_t key_heads = 0;  ///< number of key and value heads; 0: equal to `heads`
  std::int64_t head_dim = 0;   ///< 0: model / heads
  std::int64_t ffn = 11008;
  Activation activation = Activation::silu;  ///< activation of the gate
  bool attention_biases = false;             ///< if true, query, key and value projections have biases
  bool attention_output_bias = false;
  LayerWindows windows = {};
  bool ffn_biases = false;
  double attention_dropout = 0;  ///< dropout rate of the attention weights
  double dropout = 0;            ///< dropout rate of sublayer outputs (Phi-3)
  double norm_epsilon = 1e-6;
  RotarySettings rotary = {};
  std::vector<bool> rotates = {};  ///< [layers], true if a layer has rotary positions; if empty, all layers have them
  /// Factors of embeddings, of scores (default 1 / sqrt(head_dim)) and of each sublayer's output, and the divisor of
  /// logits (Granite).
  double embedding_scale = 1;
  std::optional<double> attention_scale = {};
  double residual_scale = 1, logit_divisor = 1;
  std::int64_t vocabulary = 32000;
  std::int64_t positions = 2048;
  std::int32_t begin_id = 1, end_id = 2, pad_id = -1;  ///< -1 if there is none
  std::vector<std::int32_t> other_end_ids = {};        ///< additional tokens that end a text
  bool tie_output = false;                             ///< if true, the embedding table is also the output projection
  std::string scope = "model";                         ///< prefix of all names except the output table; may be empty

  std::int32_t KeyHeads() const { return key_heads > 0 ? key_heads : heads; }
  std::int64_t HeadDim() const { return head_dim > 0 ? head_dim : model / heads; }
  bool NormsQueriesAndKeys() const { return family == LlamaFamily::qwen3; }  // per head, before rotation
  bool FusesProjections() const { return family == LlamaFamily::phi3; }      // true if files store fused projections
  bool Rotates(int layer) const { return rotates.empty() || rotates[static_cast<std::size_t>(layer)]; }
};
HEADLIGHT_API void Describe(ConfigTable& table, LlamaConfig& config);

/// Computes x + Attention(RMSNorm(x)), then x + FeedForward(RMSNorm(x)).
class HEADLIGHT_API LlamaLayer {
 public:
  LlamaLayer(const Scope& scope, const LlamaConfig& config, int layer);
  /// Maps [tokens, model] to [tokens, model]. Queries and keys are rotated by `angles` if the layer has rotary
  /// positions.
  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const ops::RotaryAngles& angles) const;

 private:
  double dropout_, residual_scale_;
  bool rotates_;
  RmsNorm attention_norm_;
  MultiHeadAttention attention_;
  std::optional<QueryKeyNorm> query_key_norm_;
  RmsNorm feed_forward_norm_;
  GatedFeedForward feed_forward_;
};

class HEADLIGHT_API Llama : public DecoderStack<LlamaConfig, LlamaLayer, RmsNorm> {
 public:
  /// Declares the parameters. Their values are set by parameters().Initialize(seed) or LoadModel. Throws Error if a
  /// hyperparameter is invalid.
  explicit Llama(const LlamaConfig& config);

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override;

 private:
  RotaryPositions rotary_;
};

}  // namespace headlight
