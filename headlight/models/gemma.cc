// Gemma (Gemma Team, "Gemma: Open Models Based on Gemini Research and Technology", 2024), Gemma 2 ("Gemma 2: Improving
// Open Language Models at a Practical Size", 2024) and the text model of Gemma 3 ("Gemma 3 Technical Report", 2025).
// They are Llama with embeddings multiplied by sqrt(model) and gains stored as their difference from 1. Since Gemma 2,
// each sublayer also has a norm after it, and sliding-window layers alternate with full attention. Gemma 2 caps scores
// and logits. Gemma 3 normalizes queries and keys instead, and its sliding-window layers have separate rotary settings.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/models/files/layer_windows.h"
#include "headlight/models/files/rotary_decoder.h"
#include "headlight/nn/query_key_norm.h"
#include "headlight/nn/transformer_layers.h"

namespace headlight {
namespace {

constexpr double kGainOffset = 1;

// The defaults apply to missing keys. They are the sizes of Gemma 7B. `version` is 1, 2 or 3.
struct GemmaConfig {
  int version = 1;
  std::int64_t model = 3072;
  int layers = 28;
  std::int32_t heads = 16;
  std::int32_t key_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 24576;
  Activation activation = Activation::gelu_tanh;
  bool attention_biases = false;  // if true, all four projections have biases
  double attention_dropout = 0;
  double norm_epsilon = 1e-6;
  std::int64_t query_scalar = 256;      // since Gemma 2, scores are divided by the square root of query_scalar
  double score_cap = 0, logit_cap = 0;  // 0: no cap
  LayerWindows windows = {};            // since Gemma 2
  RotarySettings rotary = {};
  RotarySettings sliding_rotary = {};  // for sliding-window layers (Gemma 3)
  std::int64_t vocabulary = 256000;
  std::int64_t positions = 8192;
  std::int32_t begin_id = 2, end_id = 1, pad_id = 0;
  std::vector<std::int32_t> other_end_ids = {};
  bool tie_output = true;
  std::string scope = "model";

  std::int32_t KeyHeads() const { return key_heads > 0 ? key_heads : heads; }
  std::int64_t HeadDim() const { return head_dim > 0 ? head_dim : model / heads; }
};

GemmaConfig DefaultsOf(int version) {
  if (version == 1) return {};
  GemmaConfig config = {.version = version,
                        .model = 2304,
                        .layers = 26,
                        .heads = 8,
                        .ffn = 9216,
                        .score_cap = version == 2 ? 50.0 : 0,
                        .logit_cap = version == 2 ? 30.0 : 0};
  if (version == 3) {
    config.vocabulary = 262208;
    config.positions = 131072;
    config.rotary.base = 1e6;
  }
  return config;
}

constexpr ConfigName<int> kGemmaTypes[] = {{"gemma", 1}, {"gemma2", 2}, {"gemma3_text", 3}};
constexpr ConfigName<int> kGemmaArchitectures[] = {
    {"GemmaForCausalLM", 1}, {"Gemma2ForCausalLM", 2}, {"Gemma3ForCausalLM", 3}};

// Describes a cap on scores or logits. null means no cap.
void DescribeCap(ConfigTable& table, const char* key, double& cap) {
  constexpr double least = 1e-6, most = 1e6;
  if (table.reads()) {
    const JsonView given = table.json()[key];
    const Json* const found = table.json().value().Find(key);
    if (found != nullptr) cap = found->is_null() ? 0 : given.Number(least, most);
  }
  table.Note(key, cap > 0 ? Json(cap) : Json());
  table.Rule(cap >= 0 && cap <= most, "{}: a cap of {}", key, cap);
}

// Describes the windows. Every second layer of Gemma 2 has no window. In Gemma 3, every sixth layer has no window,
// unless sliding_window_pattern sets another number.
void DescribeGemmaWindows(ConfigTable& table, GemmaConfig& config) {
  std::int64_t pattern = config.version == 2 ? 2 : 6;
  if (table.reads() && config.version == 3)
    pattern = table.json().Get("sliding_window_pattern", pattern).Integer(1, kLargestSize);
  std::vector<bool> slides;
  for (int layer = 0; layer < config.layers; ++layer) slides.push_back((layer + 1) % pattern != 0);
  DescribeAlternatingWindows(table, config.windows, 4096, slides);
  table.Rule(config.windows.window > 0, "sliding_window: the layers need one");
}

void Describe(ConfigTable& table, GemmaConfig& config) {
  table.Choice("model_type", config.version, kGemmaTypes);
  const auto architecture = std::ranges::find(kGemmaArchitectures, config.version, &ConfigName<int>::value);
  table.Note("architectures", Json::Array{architecture->name});
  if (table.reads()) config = DefaultsOf(config.version);
  DescribeStack(table, config, {.key_heads = config.version == 1 ? 16 : 4, .head_dim = 256});
  table.Epsilon("rms_norm_eps", config.norm_epsilon);
  const bool newer = config.version > 1;
  if (newer) {
    table.Choice("hidden_activation", config.activation, kGateNames);
    table.Harmless({"hidden_act", "sliding_window_size"});  // published files also contain these keys
  } else {
    table.Choice("hidden_act", config.activation, kGateNames);
    table.Harmless({"hidden_activation"});
    // In published files, gelu means the tanh approximation.
    if (config.activation == Activation::gelu) config.activation = Activation::gelu_tanh;
  }
  table.Flag("attention_bias", config.attention_biases);
  table.Only("use_bidirectional_attention", false, "tokens attend to later tokens");
  DescribeTokens(table, config);
  if (newer) {
    table.Size("query_pre_attn_scalar", config.query_scalar,
               "the square root of this number divides the attention scores");
    DescribeCap(table, "attn_logit_softcapping", config.score_cap);
    DescribeCap(table, "final_logit_softcapping", config.logit_cap);
    DescribeGemmaWindows(table, config);
  }
  // Transformers uses the cap on scores only in Gemma 2.
  table.Rule(config.version == 2 || config.score_cap == 0, "scores have a cap in Gemma 2 only");
  if (config.version == 3) {
    DescribeRotaryOfLayers(table, config.rotary, config.sliding_rotary, config.HeadDim(), config.positions);
  } else {
    DescribeRotary(table, config.rotary, config.HeadDim(), config.positions);
  }
}

MultiHeadAttentionConfig AttentionOf(const GemmaConfig& config, int layer) {
  MultiHeadAttentionConfig attention = RotaryAttentionOf(config);
  if (config.version > 1) attention.scale = 1 / std::sqrt(static_cast<double>(config.query_scalar));
  attention.score_cap = config.score_cap;
  attention.window = config.windows.Of(layer);
  return attention;
}

// Computes x + Norm(Attention(Norm(x))), then x + Norm(FeedForward(Norm(x))). Gemma 1 has no norms after the sublayers.
class GemmaLayer {
 public:
  GemmaLayer(const Scope& scope, const GemmaConfig& config, int layer)
      : slides_(config.windows.Of(layer) > 0),
        before_attention_(scope / "input_layernorm", config.model, config.norm_epsilon, kGainOffset),
        attention_(scope / "self_attn", AttentionOf(config, layer), AttentionKind::decoder_self, layer),
        before_feed_forward_(scope / (config.version > 1 ? "pre_feedforward_layernorm" : "post_attention_layernorm"),
                             config.model, config.norm_epsilon, kGainOffset),
        feed_forward_(scope / "mlp", {.model = config.model, .ffn = config.ffn, .activation = config.activation}) {
    if (config.version > 1) {
      after_attention_.emplace(scope / "post_attention_layernorm", config.model, config.norm_epsilon, kGainOffset);
      after_feed_forward_.emplace(scope / "post_feedforward_layernorm", config.model, config.norm_epsilon, kGainOffset);
    }
    if (config.version == 3)
      query_key_norm_.emplace(scope / "self_attn", QueryKeyNormConfig{.query_columns = config.heads * config.HeadDim(),
                                                                      .query_run = config.HeadDim(),
                                                                      .key_run = config.HeadDim(),
                                                                      .epsilon = config.norm_epsilon,
                                                                      .gain_offset = kGainOffset});
  }

  bool slides() const { return slides_; }

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const ops::RotaryAngles& angles) const {
    const QueryKeySteps steps = {.norm = query_key_norm_ ? &*query_key_norm_ : nullptr, .angles = &angles};
    const Tensor attended = PreNorm(context, x, before_attention_, /*dropout=*/0, [&](Context&, const Tensor& input) {
      return Normed(context, after_attention_, attention_.Self(context, input, texts, /*causal=*/true, {}, steps));
    });
    return PreNorm(context, attended, before_feed_forward_, /*dropout=*/0, [&](Context&, const Tensor& input) {
      return Normed(context, after_feed_forward_, feed_forward_(context, input));
    });
  }

 private:
  static Tensor Normed(Context& context, const std::optional<RmsNorm>& norm, const Tensor& x) {
    return norm ? (*norm)(context, x) : x;
  }

  bool slides_;
  RmsNorm before_attention_;
  MultiHeadAttention attention_;
  std::optional<QueryKeyNorm> query_key_norm_;
  std::optional<RmsNorm> after_attention_, after_feed_forward_;
  RmsNorm before_feed_forward_;
  GatedFeedForward feed_forward_;
};

class Gemma : public DecoderStack<GemmaConfig, GemmaLayer, RmsNorm> {
 public:
  explicit Gemma(const GemmaConfig& config)
      : DecoderStack(config, /*residual_layers=*/2 * config.layers, kGatedOutputs, kGainOffset),
        rotary_(config.rotary.Of(config.HeadDim())),
        sliding_rotary_((config.version == 3 ? config.sliding_rotary : config.rotary).Of(config.HeadDim())) {
    limits_.positions = config.sliding_rotary.LongestText(config.rotary.LongestText(config.positions));
    logit_cap_ = config.logit_cap;
  }

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override {
    const std::vector<std::int32_t> first_positions = BeginPass(context, texts, /*memory=*/nullptr, layers_.size());
    CheckLengths(texts, first_positions, limits_.positions);
    Tensor hidden = (*tokens_)(context, ids, std::sqrt(static_cast<double>(config_.model)));
    const ops::RotaryAngles angles = rotary_.Angles(texts, first_positions, hidden.dtype());
    const ops::RotaryAngles sliding_angles =
        config_.version == 3 ? sliding_rotary_.Angles(texts, first_positions, hidden.dtype()) : angles;
    for (const GemmaLayer& layer : layers_)
      hidden = layer(context, hidden, texts, layer.slides() ? sliding_angles : angles);
    return (*final_norm_)(context, hidden);
  }

 private:
  RotaryPositions rotary_, sliding_rotary_;
};

std::unique_ptr<Gemma> LoadGemma(const ModelFolder& files, const LoadModelOptions& options) {
  return LoadRotaryDecoder<Gemma, GemmaConfig>(files, options);
}

template <int version>
std::unique_ptr<LanguageModel> NewGemma(const LanguageModelSizes& sizes) {
  GemmaConfig config = DefaultsOf(version);
  SetSizes(config, sizes);
  config.query_scalar = config.HeadDim();
  if (version > 1) {
    config.windows.window = version == 2 ? 4096 : 512;
    for (int layer = 0; layer < config.layers; ++layer)
      config.windows.sliding.push_back((layer + 1) % (version == 2 ? 2 : 6) != 0);
  }
  return std::make_unique<Gemma>(config);
}

}  // namespace

namespace families {
extern const Family gemma =
    MakeFamily<Gemma, LoadGemma>({"gemma", "gemma2", "gemma3_text"},
                                 {GatedFromScratch("gemma", NewGemma<1>), GatedFromScratch("gemma2", NewGemma<2>),
                                  GatedFromScratch("gemma3_text", NewGemma<3>)});
}  // namespace families

}  // namespace headlight
