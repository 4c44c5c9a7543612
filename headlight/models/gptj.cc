// GPT-J (Wang and Komatsuzaki, "GPT-J-6B: A 6 Billion Parameter Autoregressive Language Model", 2021). It is GPT-2 with
// parallel sublayers that share a norm. Rotary positions rotate pairs of adjacent features, as in the paper that
// introduced them.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/models/files/rotary_decoder.h"

namespace headlight {
namespace {

// The defaults apply to missing keys. They are the sizes of GPT-J 6B.
struct GptJConfig {
  std::int64_t model = 4096;
  int layers = 28;
  std::int32_t heads = 16;
  std::int64_t ffn = 16384;
  std::int64_t rotated = 64;  // number of rotated features of a head, starting at the first feature
  Activation activation = Activation::gelu_tanh;
  double dropout = 0, embedding_dropout = 0, attention_dropout = 0;
  double norm_epsilon = 1e-5;
  std::int64_t vocabulary = 50400;
  std::int64_t positions = 2048;
  std::int32_t begin_id = 50256, end_id = 50256, pad_id = -1;
  std::vector<std::int32_t> other_end_ids = {};
  bool tie_output = false;
  DecoderNames names = {"transformer", "wte", "h", "ln_f", "lm_head"};
};

void Describe(ConfigTable& table, GptJConfig& config) {
  table.Note("model_type", "gptj");
  table.Note("architectures", Json::Array{"GPTJForCausalLM"});
  DescribeGpt2Stack(table, config);
  DescribeTokens(table, config, "n_positions");
  table.Integer("rotary_dim", config.rotated, "the number of rotated features", 2, kLargestSize);
  table.Rule(config.rotated % 2 == 0 && config.rotated <= config.model / config.heads,
             "rotary positions rotate pairs: {} of the {} features of a head are not pairs", config.rotated,
             config.model / config.heads);
  table.Only("scale_attn_weights", true, "unscaled scores");
  table.Harmless({"rotary"});  // always true in published files
}

// Computes x + Attention(Norm(x)) + FeedForward(Norm(x)).
class GptJLayer {
 public:
  GptJLayer(const Scope& scope, const GptJConfig& config, int layer)
      : dropout_(config.dropout),
        norm_(scope / "ln_1", config.model, config.norm_epsilon),
        attention_(scope / "attn",
                   {.model = config.model, .heads = config.heads, .dropout = config.attention_dropout, .biases = false},
                   AttentionKind::decoder_self, layer),
        feed_forward_(scope / "mlp", config.model, config.ffn, config.activation, {"fc_in", "fc_out"}) {}

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const ops::RotaryAngles& angles) const {
    const Tensor input = norm_(context, x);
    const auto attention = [&](Context&, const Tensor&) {
      return attention_.Self(context, input, texts, /*causal=*/true, {}, {.angles = &angles});
    };
    return ParallelSublayers(context, x, input, attention, input, feed_forward_, dropout_);
  }

 private:
  double dropout_;
  LayerNorm norm_;
  MultiHeadAttention attention_;
  FeedForward feed_forward_;
};

class GptJ : public DecoderStack<GptJConfig, GptJLayer, LayerNorm> {
 public:
  explicit GptJ(const GptJConfig& config)
      : DecoderStack(config, /*residual_layers=*/2 * config.layers, {"out_proj", "fc_out"}),
        rotary_(RotaryPositions::Default(config.model / config.heads, /*base=*/10000, config.rotated)),
        output_bias_(&Scope(parameters_).DeclareVector({config.names.output + ".bias"}, config.vocabulary)) {
    rotary_.pairs = kernels::RotaryPairs::adjacent;
  }

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override {
    const std::vector<std::int32_t> first_positions = BeginPass(context, texts, /*memory=*/nullptr, layers_.size());
    CheckLengths(texts, first_positions, limits_.positions);
    Tensor hidden = (*tokens_)(context, ids, 1, {}, {}, context.NextDropout(config_.embedding_dropout));
    const ops::RotaryAngles angles = rotary_.Angles(texts, first_positions, hidden.dtype());
    for (const GptJLayer& layer : layers_) hidden = layer(context, hidden, texts, angles);
    return (*final_norm_)(context, hidden);
  }

  Tensor OutputBias(Context& context) const override { return context.Use(*output_bias_); }

 private:
  RotaryPositions rotary_;
  const Parameter* output_bias_;
};

std::unique_ptr<GptJ> LoadGptJ(const ModelFolder& files, const LoadModelOptions& options) {
  GptJConfig config;
  ReadConfig(files.config, config, options.dropout);
  config.names.scope = ScopeIn(files.weights, config.names.scope);
  return LoadDecoder<GptJ>(files, options, config, {"attn.bias", "attn.masked_bias"});
}

std::unique_ptr<LanguageModel> NewGptJ(const LanguageModelSizes& sizes) {
  return std::make_unique<GptJ>(
      GptJConfig{.model = sizes.model,
                 .layers = sizes.layers,
                 .heads = sizes.heads,
                 .ffn = sizes.ffn,
                 .rotated = std::min<std::int64_t>(64, sizes.model / std::max(1, sizes.heads)),
                 .dropout = sizes.dropout,
                 .embedding_dropout = sizes.dropout,
                 .attention_dropout = sizes.attention_dropout,
                 .vocabulary = sizes.vocabulary,
                 .positions = sizes.positions,
                 .begin_id = sizes.begin_id,
                 .end_id = sizes.end_id,
                 .tie_output = true});
}

}  // namespace

namespace families {
extern const Family gptj = MakeFamily<GptJ, LoadGptJ>({"gptj"}, {{.name = "gptj", .make = NewGptJ}});
}  // namespace families

}  // namespace headlight
