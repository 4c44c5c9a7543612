// BLOOM (BigScience Workshop, "BLOOM: A 176B-Parameter Open-Access Multilingual Language Model", 2022, section 3.2):
// GPT-2 with linear attention biases (ALiBi) instead of positional embeddings, and a LayerNorm of the token embeddings.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "headlight/models/files/rotary_decoder.h"
#include "headlight/nn/linear_biases.h"

namespace headlight {
namespace {

// The defaults apply to missing keys.
struct BloomConfig {
  std::int64_t model = 64;
  int layers = 2;
  std::int32_t heads = 8;
  std::int64_t ffn = 0;              // always 4 * model
  bool residual_after_norm = false;  // if true, residual connections begin after the norms
  double dropout = 0, attention_dropout = 0;
  double norm_epsilon = 1e-5;
  std::int64_t vocabulary = 250880;
  std::int64_t positions = 2048;  // length of the training texts; ALiBi itself has no limit
  std::int32_t begin_id = 1, end_id = 2, pad_id = -1;
  std::vector<std::int32_t> other_end_ids = {};
  bool tie_output = true;
  DecoderNames names = {"transformer", "word_embeddings", "h", "ln_f", "lm_head"};
};

void Describe(ConfigTable& table, BloomConfig& config) {
  table.Note("model_type", "bloom");
  table.Note("architectures", Json::Array{"BloomForCausalLM"});
  table.Size(KeyOf(table, "hidden_size", "n_embed"), config.model, "the model dimension");
  table.Layers(KeyOf(table, "n_layer", "num_hidden_layers"), config.layers);
  table.Heads(KeyOf(table, "n_head", "num_attention_heads"), config.heads, config.model);
  table.Default(config.ffn, 4 * config.model);
  table.Rule(config.ffn == 4 * config.model, "the ffn dimension is 4 times the model dimension: {}, not {}",
             4 * config.model, config.ffn);
  table.Flag("apply_residual_connection_post_layernorm", config.residual_after_norm);
  table.Probability("hidden_dropout", config.dropout);
  table.Probability("attention_dropout", config.attention_dropout);
  table.Epsilon("layer_norm_epsilon", config.norm_epsilon);
  DescribeTokens(table, config, "seq_length");
  // These settings have no effect on inference, or are the same in all models.
  table.Harmless({"pretraining_tp", "slow_but_exact", "n_inner", "skip_bias_add", "skip_bias_add_qkv", "offset_alibi",
                  "bias_dropout_fusion", "masked_softmax_fusion", "attention_softmax_in_fp32"});
}

// Computes x + Attention(Norm(x)), then x + FeedForward(Norm(x)).
class BloomLayer {
 public:
  BloomLayer(const Scope& scope, const BloomConfig& config, int layer)
      : residual_after_norm_(config.residual_after_norm),
        dropout_(config.dropout),
        attention_norm_(scope / "input_layernorm", config.model, config.norm_epsilon),
        attention_(scope / "self_attention",
                   {.model = config.model,
                    .heads = config.heads,
                    .dropout = config.attention_dropout,
                    .names = {.output = "dense", .query_key_value = "query_key_value", .grouped_by_head = true}},
                   AttentionKind::decoder_self, layer),
        feed_forward_norm_(scope / "post_attention_layernorm", config.model, config.norm_epsilon),
        feed_forward_(scope / "mlp", config.model, config.ffn, Activation::gelu_tanh,
                      {"dense_h_to_4h", "dense_4h_to_h"}) {}

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const ops::AttentionBias& bias) const {
    const Tensor attended = Added(context, x, attention_norm_, [&](Context&, const Tensor& input) {
      return attention_.Self(context, input, texts, /*causal=*/true, bias);
    });
    return Added(context, attended, feed_forward_norm_, feed_forward_);
  }

 private:
  template <typename Sublayer>
  Tensor Added(Context& context, const Tensor& x, const LayerNorm& norm, const Sublayer& sublayer) const {
    if (!residual_after_norm_) return PreNorm(context, x, norm, dropout_, sublayer);
    const Tensor input = norm(context, x), change = sublayer(context, input);
    return ops::Residual(input, change, context.NextDropout(dropout_));
  }

  bool residual_after_norm_;
  double dropout_;
  LayerNorm attention_norm_;
  MultiHeadAttention attention_;
  LayerNorm feed_forward_norm_;
  FeedForward feed_forward_;
};

class Bloom : public DecoderStack<BloomConfig, BloomLayer, LayerNorm> {
 public:
  explicit Bloom(const BloomConfig& config)
      : DecoderStack(config, /*residual_layers=*/2 * config.layers, {"dense", "dense_4h_to_h"}),
        tokens_norm_(Scope(parameters_, config.names.scope) / "word_embeddings_layernorm", config.model,
                     config.norm_epsilon) {}

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override {
    const std::vector<std::int32_t> first_positions = BeginPass(context, texts, /*memory=*/nullptr, layers_.size());
    CheckLengths(texts, first_positions, limits_.positions);
    Tensor hidden = tokens_norm_(context, (*tokens_)(context, ids));
    const ops::AttentionBias bias = LinearBiases({.heads = config_.heads}, texts, first_positions, hidden.dtype());
    for (const BloomLayer& layer : layers_) hidden = layer(context, hidden, texts, bias);
    return (*final_norm_)(context, hidden);
  }

 private:
  LayerNorm tokens_norm_;
};

std::unique_ptr<Bloom> LoadBloom(const ModelFolder& files, const LoadModelOptions& options) {
  BloomConfig config;
  ReadConfig(files.config, config, options.dropout);
  config.names.scope = ScopeIn(files.weights, config.names.scope);
  return LoadDecoder<Bloom>(files, options, config, {});
}

std::unique_ptr<LanguageModel> NewBloom(const LanguageModelSizes& sizes) {
  return std::make_unique<Bloom>(BloomConfig{.model = sizes.model,
                                             .layers = sizes.layers,
                                             .heads = sizes.heads,
                                             .ffn = sizes.ffn,
                                             .dropout = sizes.dropout,
                                             .attention_dropout = sizes.attention_dropout,
                                             .vocabulary = sizes.vocabulary,
                                             .positions = sizes.positions,
                                             .begin_id = sizes.begin_id,
                                             .end_id = sizes.end_id});
}

}  // namespace

namespace families {
extern const Family bloom = MakeFamily<Bloom, LoadBloom>({"bloom"}, {{.name = "bloom", .make = NewBloom}});
}  // namespace families

}  // namespace headlight
