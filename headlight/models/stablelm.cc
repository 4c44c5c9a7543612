// StableLM (Bellagente et al., "Stable LM 2 1.6B Technical Report", 2024, section 2), which is Llama with LayerNorm and
// partial rotary positions. Some models have parallel sublayers.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/models/files/rotary_decoder.h"
#include "headlight/nn/query_key_norm.h"

namespace headlight {
namespace {

// The defaults apply to missing keys. They are the sizes of StableLM 3B.
struct StableLmConfig {
  std::int64_t model = 2560;
  int layers = 32;
  std::int32_t heads = 32;
  std::int32_t key_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 6912;
  Activation activation = Activation::silu;
  bool attention_biases = false;  // if true, query, key and value projections have biases
  bool head_norms = false;        // if true, each head has LayerNorms of queries and keys
  bool parallel = false;  // if true, layers compute x + Attention(Norm(x)) + FeedForward(Norm(x)), with one norm
  double attention_dropout = 0;
  double dropout = 0;  // dropout rate of the feed-forward network's output
  double norm_epsilon = 1e-5;
  RotarySettings rotary = {.rotated = 0.25};
  std::int64_t vocabulary = 50304;
  std::int64_t positions = 4096;
  std::int32_t begin_id = 0, end_id = 0, pad_id = -1;
  std::vector<std::int32_t> other_end_ids = {};
  bool tie_output = false;
  std::string scope = "model";

  std::int32_t KeyHeads() const { return key_heads > 0 ? key_heads : heads; }
  std::int64_t HeadDim() const { return head_dim > 0 ? head_dim : model / heads; }
};

void Describe(ConfigTable& table, StableLmConfig& config) {
  table.Note("model_type", "stablelm");
  table.Note("architectures", Json::Array{"StableLmForCausalLM"});
  DescribeStack(table, config, {.key_heads = 32});
  table.Rule(config.HeadDim() * config.heads == config.model, "{} heads of {} are not the model dimension, {}",
             config.heads, config.HeadDim(), config.model);
  table.Epsilon("layer_norm_eps", config.norm_epsilon);
  table.Choice("hidden_act", config.activation, kGateNames);
  table.Flag("use_qkv_bias", config.attention_biases);
  table.Flag("use_parallel_residual", config.parallel);
  table.Flag("qk_layernorm", config.head_norms);
  table.Probability("hidden_dropout", config.dropout);
  DescribeTokens(table, config);
  DescribeRotary(table, config.rotary, config.HeadDim(), config.positions, /*partial=*/true);
}

MultiHeadAttentionConfig AttentionOf(const StableLmConfig& config) {
  MultiHeadAttentionConfig attention = RotaryAttentionOf(config);
  attention.output_bias = false;
  return attention;
}

class StableLmLayer {
 public:
  StableLmLayer(const Scope& scope, const StableLmConfig& config, int layer)
      : dropout_(config.dropout),
        attention_norm_(scope / "input_layernorm", config.model, config.norm_epsilon),
        attention_(scope / "self_attn", AttentionOf(config), AttentionKind::decoder_self, layer),
        feed_forward_(scope / "mlp", {.model = config.model, .ffn = config.ffn, .activation = config.activation}) {
    if (!config.parallel)
      feed_forward_norm_.emplace(scope / "post_attention_layernorm", config.model, config.norm_epsilon);
    if (config.head_norms)
      head_norms_.emplace(scope / "self_attn", config.heads, config.KeyHeads(), config.HeadDim(), config.norm_epsilon);
  }

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const ops::RotaryAngles& angles) const {
    const Tensor normed = attention_norm_(context, x);
    const QueryKeySteps steps = {.head_norms = head_norms_ ? &*head_norms_ : nullptr, .angles = &angles};
    const Tensor change = attention_.Self(context, normed, texts, /*causal=*/true, {}, steps);
    const Tensor attended = ops::Residual(x, change);
    const Tensor input = feed_forward_norm_ ? (*feed_forward_norm_)(context, attended) : normed;
    return ops::Residual(attended, feed_forward_(context, input), context.NextDropout(dropout_));
  }

 private:
  double dropout_;
  LayerNorm attention_norm_;
  MultiHeadAttention attention_;
  std::optional<HeadLayerNorms> head_norms_;
  std::optional<LayerNorm> feed_forward_norm_;
  GatedFeedForward feed_forward_;
};

class StableLm : public RotaryDecoder<StableLmConfig, StableLmLayer, LayerNorm> {
 public:
  explicit StableLm(const StableLmConfig& config) : RotaryDecoder(config, /*residual_layers=*/2 * config.layers) {}
};

std::unique_ptr<StableLm> LoadStableLm(const ModelFolder& files, const LoadModelOptions& options) {
  return LoadRotaryDecoder<StableLm, StableLmConfig>(files, options);
}

std::unique_ptr<LanguageModel> NewStableLm(const LanguageModelSizes& sizes) {
  StableLmConfig config;
  SetSizes(config, sizes);
  config.dropout = sizes.dropout;
  return std::make_unique<StableLm>(config);
}

}  // namespace

namespace families {
extern const Family stablelm =
    MakeFamily<StableLm, LoadStableLm>({"stablelm"}, {GatedFromScratch("stablelm", NewStableLm)});
}  // namespace families

}  // namespace headlight
