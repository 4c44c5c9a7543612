// OLMo 2 (OLMo Team, "2 OLMo 2 Furious", 2025, section 2). It is Llama with norms after the sublayers instead of
// before. Queries and keys also have a norm over all heads of a token.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headlight/models/files/rotary_decoder.h"
#include "headlight/nn/query_key_norm.h"

namespace headlight {
namespace {

// The defaults apply to missing keys. They are the sizes of OLMo 2 7B.
struct Olmo2Config {
  std::int64_t model = 4096;
  int layers = 32;
  std::int32_t heads = 32;
  std::int32_t key_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 11008;
  Activation activation = Activation::silu;
  bool attention_biases = false;  // if true, all four projections have biases
  double attention_dropout = 0;
  double norm_epsilon = 1e-5;
  RotarySettings rotary = {};
  std::int64_t vocabulary = 50304;
  std::int64_t positions = 2048;
  std::int32_t begin_id = -1, end_id = 50279, pad_id = 1;
  std::vector<std::int32_t> other_end_ids = {};
  bool tie_output = false;
  std::string scope = "model";

  std::int32_t KeyHeads() const { return key_heads > 0 ? key_heads : heads; }
  std::int64_t HeadDim() const { return head_dim > 0 ? head_dim : model / heads; }
};

void Describe(ConfigTable& table, Olmo2Config& config) {
  table.Note("model_type", "olmo2");
  table.Note("architectures", Json::Array{"Olmo2ForCausalLM"});
  DescribeStack(table, config);
  table.Epsilon("rms_norm_eps", config.norm_epsilon);
  table.Choice("hidden_act", config.activation, kGateNames);
  table.Flag("attention_bias", config.attention_biases);
  DescribeTokens(table, config);
  DescribeRotary(table, config.rotary, config.HeadDim(), config.positions);
}

// Computes x + RMSNorm(Attention(x)), then x + RMSNorm(FeedForward(x)).
class Olmo2Layer {
 public:
  Olmo2Layer(const Scope& scope, const Olmo2Config& config, int layer)
      : attention_(scope / "self_attn", RotaryAttentionOf(config), AttentionKind::decoder_self, layer),
        query_key_norm_(scope / "self_attn", {.query_columns = config.heads * config.HeadDim(),
                                              .query_run = config.heads * config.HeadDim(),
                                              .key_run = config.KeyHeads() * config.HeadDim(),
                                              .epsilon = config.norm_epsilon}),
        attention_norm_(scope / "post_attention_layernorm", config.model, config.norm_epsilon),
        feed_forward_(scope / "mlp", {.model = config.model, .ffn = config.ffn, .activation = config.activation}),
        feed_forward_norm_(scope / "post_feedforward_layernorm", config.model, config.norm_epsilon) {}

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const ops::RotaryAngles& angles) const {
    const QueryKeySteps steps = {.norm = &query_key_norm_, .angles = &angles};
    const Tensor change = attention_.Self(context, x, texts, /*causal=*/true, {}, steps);
    const Tensor attended = ops::Residual(x, attention_norm_(context, change));
    return ops::Residual(attended, feed_forward_norm_(context, feed_forward_(context, attended)));
  }

 private:
  MultiHeadAttention attention_;
  QueryKeyNorm query_key_norm_;
  RmsNorm attention_norm_;
  GatedFeedForward feed_forward_;
  RmsNorm feed_forward_norm_;
};

class Olmo2 : public RotaryDecoder<Olmo2Config, Olmo2Layer, RmsNorm> {
 public:
  explicit Olmo2(const Olmo2Config& config) : RotaryDecoder(config, /*residual_layers=*/1) {}
};

std::unique_ptr<Olmo2> LoadOlmo2(const ModelFolder& files, const LoadModelOptions& options) {
  return LoadRotaryDecoder<Olmo2, Olmo2Config>(files, options);
}

std::unique_ptr<LanguageModel> NewOlmo2(const LanguageModelSizes& sizes) {
  Olmo2Config config;
  SetSizes(config, sizes);
  return std::make_unique<Olmo2>(config);
}

}  // namespace

namespace families {
extern const Family olmo2 = MakeFamily<Olmo2, LoadOlmo2>({"olmo2"}, {GatedFromScratch("olmo2", NewOlmo2)});
}  // namespace families

}  // namespace headlight
