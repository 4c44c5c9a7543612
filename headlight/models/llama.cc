#include "headlight/models/llama.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/nn/transformer_layers.h"
#include "headlight/ops/arithmetic.h"

namespace headlight {

namespace {

MultiHeadAttentionConfig AttentionOf(const LlamaConfig& config, int layer) {
  MultiHeadAttentionConfig attention = RotaryAttentionOf(config);
  attention.output_bias = config.attention_output_bias;
  attention.window = config.windows.Of(layer);
  attention.scale = config.attention_scale;
  if (config.FusesProjections()) attention.names.query_key_value = "qkv_proj";
  return attention;
}

GatedFeedForwardConfig FeedForwardOf(const LlamaConfig& config) {
  GatedFeedForwardConfig feed_forward = {
      .model = config.model, .ffn = config.ffn, .activation = config.activation, .biases = config.ffn_biases};
  if (config.FusesProjections()) feed_forward.inner = {"gate_up_proj"};
  return feed_forward;
}

}  // namespace

LlamaLayer::LlamaLayer(const Scope& scope, const LlamaConfig& config, int layer)
    : dropout_(config.dropout),
      residual_scale_(config.residual_scale),
      rotates_(config.Rotates(layer)),
      attention_norm_(scope / "input_layernorm", config.model, config.norm_epsilon),
      attention_(scope / "self_attn", AttentionOf(config, layer), AttentionKind::decoder_self, layer),
      feed_forward_norm_(scope / "post_attention_layernorm", config.model, config.norm_epsilon),
      feed_forward_(scope / "mlp", FeedForwardOf(config)) {
  if (config.NormsQueriesAndKeys())
    query_key_norm_.emplace(scope / "self_attn", QueryKeyNormConfig{.query_columns = config.heads * config.HeadDim(),
                                                                    .query_run = config.HeadDim(),
                                                                    .key_run = config.HeadDim(),
                                                                    .epsilon = config.norm_epsilon});
}

Tensor LlamaLayer::operator()(Context& context, const Tensor& x, const Sequences& texts,
                              const ops::RotaryAngles& angles) const {
  const auto scaled = [&](const Tensor& change) {
    return residual_scale_ == 1 ? change : ops::Scale(change, residual_scale_);
  };
  const QueryKeySteps steps = {.norm = query_key_norm_ ? &*query_key_norm_ : nullptr,
                               .angles = rotates_ ? &angles : nullptr};
  const Tensor attended = PreNorm(context, x, attention_norm_, dropout_, [&](Context&, const Tensor& input) {
    return scaled(attention_.Self(context, input, texts, /*causal=*/true, {}, steps));
  });
  return PreNorm(context, attended, feed_forward_norm_, dropout_,
                 [&](Context&, const Tensor& input) { return scaled(feed_forward_(context, input)); });
}

Llama::Llama(const LlamaConfig& config)
    : DecoderStack(config, /*residual_layers=*/2 * config.layers, kGatedOutputs),
      rotary_(config.rotary.Of(config.HeadDim())) {
  limits_.positions = config.rotary.LongestText(config.positions);
  state_divisor_ = config.logit_divisor;
}

Tensor Llama::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  const std::vector<std::int32_t> first_positions = BeginPass(context, texts, /*memory=*/nullptr, layers_.size());
  CheckLengths(texts, first_positions, limits_.positions);
  Tensor hidden = (*tokens_)(context, ids, config_.embedding_scale);
  const ops::RotaryAngles angles = rotary_.Angles(texts, first_positions, hidden.dtype());
  for (const LlamaLayer& layer : layers_) hidden = layer(context, hidden, texts, angles);
  hidden = (*final_norm_)(context, hidden);
  return state_divisor_ == 1 ? hidden : ops::Scale(hidden, 1 / state_divisor_);
}

namespace {

constexpr ConfigName<LlamaFamily> kLlamaFamilies[] = {
    {"llama", LlamaFamily::llama},    {"mistral", LlamaFamily::mistral}, {"qwen2", LlamaFamily::qwen2},
    {"qwen3", LlamaFamily::qwen3},    {"smollm3", LlamaFamily::smollm3}, {"phi3", LlamaFamily::phi3},
    {"granite", LlamaFamily::granite}};
constexpr ConfigName<LlamaFamily> kLlamaArchitectures[] = {
    {"LlamaForCausalLM", LlamaFamily::llama},     {"MistralForCausalLM", LlamaFamily::mistral},
    {"Qwen2ForCausalLM", LlamaFamily::qwen2},     {"Qwen3ForCausalLM", LlamaFamily::qwen3},
    {"SmolLM3ForCausalLM", LlamaFamily::smollm3}, {"Phi3ForCausalLM", LlamaFamily::phi3},
    {"GraniteForCausalLM", LlamaFamily::granite}};

// Describes Qwen's windows. The first max_window_layers layers have no window.
void DescribeQwenWindows(ConfigTable& table, LlamaConfig& config) {
  const auto layers = static_cast<std::size_t>(config.layers);
  std::vector<bool> slides(layers, true);
  const bool none = config.windows.window == 0;
  const auto first = std::ranges::find(config.windows.sliding, true) - config.windows.sliding.begin();
  std::int32_t full = table.reads() ? 28 : none ? config.layers : static_cast<std::int32_t>(first);
  table.Integer("max_window_layers", full, "the number of layers without a window", 0, kLargestSize);
  for (std::size_t layer = 0; layer < layers; ++layer) slides[layer] = std::cmp_greater_equal(layer, full);
  DescribeLayerWindows(table, config.windows, 4096, slides);
}

// Describes SmolLM3's layers. Every fourth layer has no positional encoding. Only these layers may have a window.
void DescribeSmolLm3Layers(ConfigTable& table, LlamaConfig& config) {
  const auto layers = static_cast<std::size_t>(config.layers);
  if (table.reads()) {
    const JsonView given = table.json()["no_rope_layers"];
    const std::int64_t interval = table.json().Get("no_rope_layer_interval", 4).Integer(1, kLargestSize);
    config.rotates.clear();
    for (std::size_t layer = 0; layer < layers && !given.present(); ++layer)
      config.rotates.push_back((static_cast<std::int64_t>(layer) + 1) % interval != 0);
    for (const JsonView& rotates : given.present() ? given.Items() : std::vector<JsonView>())
      config.rotates.push_back(rotates.Integer(0, 1) == 1);
    Check(config.rotates.size() >= layers, "{}: {} entries for {} layers", given.location(), config.rotates.size(),
          layers);
    config.rotates.resize(layers);  // the list in a smaller model's configuration may have entries for more layers
  }
  table.Rule(config.rotates.empty() || config.rotates.size() == layers,
             "rotary positions of {} layers, where there are {}", config.rotates.size(), layers);
  Json::Array written;
  std::vector<bool> slides;
  for (int layer = 0; layer < config.layers; ++layer) {
    written.push_back(config.Rotates(layer) ? 1 : 0);
    slides.push_back(!config.Rotates(layer));
  }
  table.Note("no_rope_layers", std::move(written));
  DescribeLayerWindows(table, config.windows, 0, slides);
}

// Returns the default values of missing keys.
LlamaConfig DefaultsOf(LlamaFamily family) {
  switch (family) {
    case LlamaFamily::mistral:
      return {.family = family, .ffn = 14336, .positions = 4096 * 32};
    case LlamaFamily::qwen2:
    case LlamaFamily::qwen3:
      return {.family = family,
              .ffn = 22016,
              .attention_biases = family == LlamaFamily::qwen2,
              .vocabulary = 151936,
              .positions = 32768,
              .begin_id = -1,
              .end_id = -1};
    case LlamaFamily::smollm3:
      return {.family = family,
              .model = 2048,
              .layers = 36,
              .heads = 16,
              .rotary = {.base = 2e6},
              .vocabulary = 128256,
              .positions = 32768,
              .begin_id = 128000,
              .end_id = 128001,
              .pad_id = 128004,
              .tie_output = true};
    case LlamaFamily::phi3:
      return {.family = family,
              .model = 3072,
              .ffn = 8192,
              .norm_epsilon = 1e-5,
              .rotary = {.first_positions = 4096, .yarn_is_longrope = true},
              .vocabulary = 32064,
              .positions = 4096,
              .end_id = 32000,
              .pad_id = 32000};
    case LlamaFamily::granite:
      return {.family = family, .attention_scale = 1};
    case LlamaFamily::llama:
      break;
  }
  return {};
}

HeadDefaults HeadDefaultsOf(LlamaFamily family) {
  switch (family) {
    case LlamaFamily::mistral:
      return {.key_heads = 8};
    case LlamaFamily::qwen2:
      return {.key_heads = 32};
    case LlamaFamily::qwen3:
      return {.key_heads = 32, .head_dim = 128};
    case LlamaFamily::smollm3:
      return {.key_heads = 4};
    default:
      return {};
  }
}

// Describes Granite's scale factors of embeddings, scores, residual branches and logits.
void DescribeGraniteFactors(ConfigTable& table, LlamaConfig& config) {
  constexpr double least = 1e-6, most = 1e6;
  table.Number("embedding_multiplier", config.embedding_scale, least, most);
  double scale = config.attention_scale.value_or(1);
  table.Number("attention_multiplier", scale, least, most);
  config.attention_scale = scale;
  table.Number("residual_multiplier", config.residual_scale, least, most);
  table.Number("logits_scaling", config.logit_divisor, least, most);
}

// Describes the settings that only some of the families have.
void DescribeFamily(ConfigTable& table, LlamaConfig& config) {
  const LlamaFamily family = config.family;
  const bool has_attention_bias = family == LlamaFamily::llama || family == LlamaFamily::qwen3 ||
                                  family == LlamaFamily::smollm3 || family == LlamaFamily::granite;
  if (has_attention_bias) table.Flag("attention_bias", config.attention_biases);
  if (has_attention_bias && table.reads()) config.attention_output_bias = config.attention_biases;
  table.Rule(family == LlamaFamily::qwen2 ? config.attention_biases && !config.attention_output_bias
                                          : config.attention_biases == config.attention_output_bias,
             "the projections of attention have biases{}",
             family == LlamaFamily::qwen2 ? ", and the output has none" : " if the output has one");
  if (has_attention_bias && family != LlamaFamily::qwen3) table.Flag("mlp_bias", config.ffn_biases);
  if (family == LlamaFamily::mistral) DescribeWindow(table, config.windows, 4096);
  if (family == LlamaFamily::qwen2 || family == LlamaFamily::qwen3) DescribeQwenWindows(table, config);
  if (family == LlamaFamily::smollm3) DescribeSmolLm3Layers(table, config);
  if (family == LlamaFamily::mistral) table.Only("attention_bias", false);
  if (family == LlamaFamily::qwen2) table.Harmless({"attention_bias"});  // Qwen2 always has the same biases
  if (family == LlamaFamily::mistral || family == LlamaFamily::qwen2 || family == LlamaFamily::qwen3)
    table.Only("mlp_bias", false);
  if (family == LlamaFamily::smollm3) table.Harmless({"max_window_layers"});
  if (family == LlamaFamily::phi3) {
    for (const char* bias : {"attention_bias", "mlp_bias", "lm_head_bias"}) table.Only(bias, false);
    DescribeWindow(table, config.windows, 0);
    table.Probability("resid_pdrop", config.dropout);
    table.Harmless({"embd_pdrop"});  // Transformers ignores this key
    table.Note("original_max_position_embeddings",
               config.rotary.first_positions > 0 ? config.rotary.first_positions : config.positions);
  }
  if (family == LlamaFamily::granite) DescribeGraniteFactors(table, config);
  // Only some families can store these settings.
  const LlamaConfig usual;
  table.Rule(family == LlamaFamily::smollm3 || config.rotates.empty(), "all layers have rotary positions");
  table.Rule((family != LlamaFamily::llama && family != LlamaFamily::granite) || config.windows == usual.windows,
             "no layer has a window");
  table.Rule(family == LlamaFamily::phi3 || config.dropout == 0, "there is no dropout of sublayers");
  table.Rule(family == LlamaFamily::granite || (config.embedding_scale == 1 && config.residual_scale == 1 &&
                                                config.logit_divisor == 1 && !config.attention_scale),
             "embeddings, scores, sublayers and logits have no factors");
}

}  // namespace

void Describe(ConfigTable& table, LlamaConfig& config) {
  table.Choice("model_type", config.family, kLlamaFamilies);
  const auto architecture = std::ranges::find(kLlamaArchitectures, config.family, &ConfigName<LlamaFamily>::value);
  table.Note("architectures", Json::Array{architecture->name});
  if (table.reads()) config = DefaultsOf(config.family);
  DescribeStack(table, config, HeadDefaultsOf(config.family));
  table.Epsilon("rms_norm_eps", config.norm_epsilon);
  table.Choice("hidden_act", config.activation, kGateNames);
  DescribeTokens(table, config);
  DescribeRotary(table, config.rotary, config.HeadDim(), config.positions, config.family == LlamaFamily::phi3);
  DescribeFamily(table, config);
  table.Harmless({"pretraining_tp"});  // pre-training parallelism, without effect on the result
}

namespace {

std::unique_ptr<Llama> LoadLlama(const ModelFolder& files, const LoadModelOptions& options) {
  return LoadRotaryDecoder<Llama, LlamaConfig>(files, options);
}

template <LlamaFamily family>
std::unique_ptr<LanguageModel> NewOf(const LanguageModelSizes& sizes) {
  LlamaConfig config = DefaultsOf(family);
  SetSizes(config, sizes);
  if (family == LlamaFamily::mistral) config.windows.window = 4096;
  for (int layer = 0; family == LlamaFamily::smollm3 && layer < sizes.layers; ++layer)
    config.rotates.push_back(layer % 4 != 3);
  if (family == LlamaFamily::phi3) config.dropout = sizes.dropout;
  return std::make_unique<Llama>(config);
}

}  // namespace

namespace families {
extern const Family llama = MakeFamily<Llama, LoadLlama>(
    {"llama", "mistral", "qwen2", "qwen3", "smollm3", "phi3", "granite"},
    {GatedFromScratch("llama", NewOf<LlamaFamily::llama>), GatedFromScratch("mistral", NewOf<LlamaFamily::mistral>),
     GatedFromScratch("qwen2", NewOf<LlamaFamily::qwen2>), GatedFromScratch("qwen3", NewOf<LlamaFamily::qwen3>),
     GatedFromScratch("smollm3", NewOf<LlamaFamily::smollm3>), GatedFromScratch("phi3", NewOf<LlamaFamily::phi3>),
     GatedFromScratch("granite", NewOf<LlamaFamily::granite>)});
}  // namespace families

}  // namespace headlight
