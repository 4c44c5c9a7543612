// GPT-NeoX (Black et al., "GPT-NeoX-20B: An Open-Source Autoregressive Language Model", 2022, section 2.1) and Pythia
// (Biderman et al., "Pythia: A Suite for Analyzing Large Language Models Across Training and Scaling", 2023). They are
// GPT-2 with partial rotary positions, and with parallel sublayers that have separate norms.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "headlight/models/files/rotary_decoder.h"

namespace headlight {
namespace {

// The defaults apply to missing keys. They are the sizes of GPT-NeoX 20B.
struct GptNeoXConfig {
  std::int64_t model = 6144;
  int layers = 44;
  std::int32_t heads = 64;
  std::int64_t ffn = 24576;
  Activation activation = Activation::gelu;
  bool attention_biases = true;
  bool parallel = true;
  double dropout = 0, attention_dropout = 0;
  double norm_epsilon = 1e-5;
  RotarySettings rotary = {.rotated = 0.25};
  std::int64_t vocabulary = 50432;
  std::int64_t positions = 2048;
  std::int32_t begin_id = 0, end_id = 2, pad_id = -1;
  std::vector<std::int32_t> other_end_ids = {};
  bool tie_output = false;
  DecoderNames names = {"gpt_neox", "embed_in", "layers", "final_layer_norm", "embed_out"};
};

void Describe(ConfigTable& table, GptNeoXConfig& config) {
  table.Note("model_type", "gpt_neox");
  table.Note("architectures", Json::Array{"GPTNeoXForCausalLM"});
  table.Size("hidden_size", config.model, "the model dimension");
  table.Layers("num_hidden_layers", config.layers);
  table.Heads("num_attention_heads", config.heads, config.model);
  table.Size("intermediate_size", config.ffn, "the ffn dimension");
  table.Choice("hidden_act", config.activation, kActivationNames);
  table.Flag("attention_bias", config.attention_biases);
  table.Flag("use_parallel_residual", config.parallel);
  table.Probability("hidden_dropout", config.dropout);
  table.Probability("attention_dropout", config.attention_dropout);
  table.Epsilon("layer_norm_eps", config.norm_epsilon);
  DescribeTokens(table, config);
  table.Number("rotary_emb_base", config.rotary.base, 1, kLargestRotaryBase);
  table.Number("rotary_pct", config.rotary.rotated, 0, 1);
  DescribeRotary(table, config.rotary, config.model / config.heads, config.positions, /*partial=*/true);
  table.Harmless({"classifier_dropout", "attention_probs_dropout_prob", "hidden_dropout_prob"});  // not used
}

// Computes x + Attention(Norm(x)) + FeedForward(Norm'(x)) if sublayers are parallel. Otherwise computes the same as a
// GPT-2 layer.
class GptNeoXLayer {
 public:
  GptNeoXLayer(const Scope& scope, const GptNeoXConfig& config, int layer)
      : parallel_(config.parallel),
        dropout_(config.dropout),
        attention_norm_(scope / "input_layernorm", config.model, config.norm_epsilon),
        attention_(scope / "attention",
                   {.model = config.model,
                    .heads = config.heads,
                    .dropout = config.attention_dropout,
                    .names = {.output = "dense", .query_key_value = "query_key_value", .grouped_by_head = true},
                    .biases = config.attention_biases},
                   AttentionKind::decoder_self, layer),
        feed_forward_norm_(scope / "post_attention_layernorm", config.model, config.norm_epsilon),
        feed_forward_(scope / "mlp", config.model, config.ffn, config.activation, {"dense_h_to_4h", "dense_4h_to_h"}) {}

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const ops::RotaryAngles& angles) const {
    const auto attention = [&](Context&, const Tensor& input) {
      return attention_.Self(context, input, texts, /*causal=*/true, {}, {.angles = &angles});
    };
    if (parallel_)
      return ParallelSublayers(context, x, attention_norm_(context, x), attention, feed_forward_norm_(context, x),
                               feed_forward_, dropout_);
    const Tensor attended = PreNorm(context, x, attention_norm_, dropout_, attention);
    return PreNorm(context, attended, feed_forward_norm_, dropout_, feed_forward_);
  }

 private:
  bool parallel_;
  double dropout_;
  LayerNorm attention_norm_;
  MultiHeadAttention attention_;
  LayerNorm feed_forward_norm_;
  FeedForward feed_forward_;
};

class GptNeoX : public DecoderStack<GptNeoXConfig, GptNeoXLayer, LayerNorm> {
 public:
  explicit GptNeoX(const GptNeoXConfig& config)
      : DecoderStack(config, /*residual_layers=*/2 * config.layers, {"dense", "dense_4h_to_h"}),
        rotary_(config.rotary.Of(config.model / config.heads)) {
    limits_.positions = config.rotary.LongestText(config.positions);
  }

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override {
    const std::vector<std::int32_t> first_positions = BeginPass(context, texts, /*memory=*/nullptr, layers_.size());
    CheckLengths(texts, first_positions, limits_.positions);
    Tensor hidden = (*tokens_)(context, ids, 1, {}, {}, context.NextDropout(config_.dropout));
    const ops::RotaryAngles angles = rotary_.Angles(texts, first_positions, hidden.dtype());
    for (const GptNeoXLayer& layer : layers_) hidden = layer(context, hidden, texts, angles);
    return (*final_norm_)(context, hidden);
  }

 private:
  RotaryPositions rotary_;
};

std::unique_ptr<GptNeoX> LoadGptNeoX(const ModelFolder& files, const LoadModelOptions& options) {
  GptNeoXConfig config;
  ReadConfig(files.config, config, options.dropout);
  config.names.scope = ScopeIn(files.weights, config.names.scope);
  if (files.weights.contains("lm_head.weight")) config.names.output = "lm_head";  // the name in Transformers 5
  return LoadDecoder<GptNeoX>(files, options, config,
                              {"attention.bias", "attention.masked_bias", "attention.rotary_emb.inv_freq"});
}

std::unique_ptr<LanguageModel> NewGptNeoX(const LanguageModelSizes& sizes) {
  return std::make_unique<GptNeoX>(GptNeoXConfig{.model = sizes.model,
                                                 .layers = sizes.layers,
                                                 .heads = sizes.heads,
                                                 .ffn = sizes.ffn,
                                                 .dropout = sizes.dropout,
                                                 .attention_dropout = sizes.attention_dropout,
                                                 .vocabulary = sizes.vocabulary,
                                                 .positions = sizes.positions,
                                                 .begin_id = sizes.begin_id,
                                                 .end_id = sizes.end_id,
                                                 .tie_output = true});
}

}  // namespace

namespace families {
extern const Family gpt_neox =
    MakeFamily<GptNeoX, LoadGptNeoX>({"gpt_neox"}, {{.name = "gpt_neox", .make = NewGptNeoX}});
}  // namespace families

}  // namespace headlight
