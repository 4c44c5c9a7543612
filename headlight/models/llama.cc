#include "headlight/models/llama.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/gpt2_stack.h"
#include "headlight/models/files/token_ids.h"
#include "headlight/nn/transformer_layers.h"

namespace headlight {

LlamaLayer::LlamaLayer(const Scope& scope, const LlamaConfig& config, int layer)
    : attention_norm_(scope / "input_layernorm", config.model, config.norm_epsilon),
      attention_(scope / "self_attn",
                 {.model = config.model,
                  .heads = config.heads,
                  .key_heads = config.key_heads,
                  .head_dim = config.head_dim,
                  .dropout = config.attention_dropout,
                  .names = {.output = "o_proj"},
                  .biases = config.attention_biases,
                  .output_bias = config.attention_output_bias,
                  .window = config.windows.Of(layer)},
                 AttentionKind::decoder_self, layer),
      rotates_(config.Rotates(layer)),
      feed_forward_norm_(scope / "post_attention_layernorm", config.model, config.norm_epsilon),
      feed_forward_(
          scope / "mlp",
          {.model = config.model, .ffn = config.ffn, .activation = config.activation, .biases = config.ffn_biases}) {
  if (config.NormsQueriesAndKeys())
    query_key_norm_.emplace(scope / "self_attn", config.heads, config.HeadDim(), config.norm_epsilon);
}

Tensor LlamaLayer::operator()(Context& context, const Tensor& x, const Sequences& texts,
                              const ops::RotaryAngles& angles) const {
  const Tensor attended = PreNorm(context, x, attention_norm_, /*dropout=*/0, [&](Context&, const Tensor& input) {
    return attention_.Self(
        context, input, texts, /*causal=*/true, {},
        {.norm = query_key_norm_ ? &*query_key_norm_ : nullptr, .angles = rotates_ ? &angles : nullptr});
  });
  return PreNorm(context, attended, feed_forward_norm_, /*dropout=*/0, feed_forward_);
}

Llama::Llama(const LlamaConfig& config, DType dtype)
    : LanguageModel(dtype), config_(Checked(config)), rotary_(config.rotary.Of(config.HeadDim())) {
  limits_ = {config.vocabulary, config.positions, config.end_id, config.begin_id};
  const Scope root(parameters_), model = root / config.scope;
  tokens_.emplace(model / "embed_tokens", config.vocabulary, config.model, Initialisation::Normal(0.02),
                  /*scores=*/config.tie_output);
  for (int layer = 0; layer < config.layers; ++layer) layers_.emplace_back(model / "layers" / layer, config, layer);
  final_norm_.emplace(model / "norm", config.model, config.norm_epsilon);
  output_ = config.tie_output ? &tokens_->table()
                              : &root.DeclareMatrix({"lm_head.weight"}, {config.vocabulary, config.model});
  InitialiseAsGpt(parameters_, 2 * config.layers, {"o_proj", "down_proj"});
}

Tensor Llama::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  const std::vector<std::int32_t> first_positions = BeginPass(context, texts, /*memory=*/nullptr, layers_.size());
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const std::int64_t end = texts[text].length + std::int64_t{first_positions.empty() ? 0 : first_positions[text]};
    Check(end <= config_.positions, "a text of {} tokens is longer than the model's {} positions", end,
          config_.positions);
  }
  Tensor hidden = (*tokens_)(context, ids);
  const ops::RotaryAngles angles = rotary_.Angles(texts, first_positions, hidden.dtype());
  for (const LlamaLayer& layer : layers_) hidden = layer(context, hidden, texts, angles);
  return (*final_norm_)(context, hidden);
}

namespace {

constexpr ConfigName<LlamaFamily> kFamilies[] = {{"llama", LlamaFamily::llama},
                                                 {"mistral", LlamaFamily::mistral},
                                                 {"qwen2", LlamaFamily::qwen2},
                                                 {"qwen3", LlamaFamily::qwen3},
                                                 {"smollm3", LlamaFamily::smollm3}};

std::string_view ArchitectureOf(LlamaFamily family) {
  switch (family) {
    case LlamaFamily::mistral:
      return "MistralForCausalLM";
    case LlamaFamily::qwen2:
      return "Qwen2ForCausalLM";
    case LlamaFamily::qwen3:
      return "Qwen3ForCausalLM";
    case LlamaFamily::smollm3:
      return "SmolLM3ForCausalLM";
    case LlamaFamily::llama:
      break;
  }
  return "LlamaForCausalLM";
}

// Qwen's first max_window_layers layers see all tokens.
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

// Every fourth layer has no positions, and only such layers may slide.
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
    Check(config.rotates.size() == layers, "{}: {} entries for {} layers", given.place(), config.rotates.size(),
          layers);
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

// What missing keys mean.
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
              .tie_output = true};
    case LlamaFamily::llama:
      break;
  }
  return {};
}

// As many key heads as heads if the key is null.
std::int32_t DefaultKeyHeads(const JsonView& json, const LlamaConfig& config) {
  const bool missing = json.value().Find("num_key_value_heads") == nullptr;
  if (!missing || config.family == LlamaFamily::llama) return config.heads;
  return config.family == LlamaFamily::mistral ? 8 : config.family == LlamaFamily::smollm3 ? 4 : 32;
}

// The settings that not all of the families have.
void DescribeFamily(ConfigTable& table, LlamaConfig& config) {
  const LlamaFamily family = config.family;
  if (family != LlamaFamily::qwen2 && family != LlamaFamily::mistral) {
    table.Flag("attention_bias", config.attention_biases);
    if (table.reads()) config.attention_output_bias = config.attention_biases;
  }
  table.Rule(family == LlamaFamily::qwen2 ? config.attention_biases && !config.attention_output_bias
                                          : config.attention_biases == config.attention_output_bias,
             "the projections of attention have biases{}",
             family == LlamaFamily::qwen2 ? ", and the output has none" : " if the output has one");
  table.Rule(family == LlamaFamily::smollm3 || config.rotates.empty(), "all layers have rotary positions");
  table.Rule(family != LlamaFamily::llama || config.windows == LayerWindows(), "no layer has a window");
  if (family == LlamaFamily::llama || family == LlamaFamily::smollm3) table.Flag("mlp_bias", config.ffn_biases);
  if (family == LlamaFamily::mistral) DescribeWindow(table, config.windows, 4096);
  if (family == LlamaFamily::qwen2 || family == LlamaFamily::qwen3) DescribeQwenWindows(table, config);
  if (family == LlamaFamily::smollm3) DescribeSmolLm3Layers(table, config);
}

}  // namespace

void Describe(ConfigTable& table, LlamaConfig& config) {
  table.Choice("model_type", config.family, kFamilies);
  table.Note("architectures", Json::Array{ArchitectureOf(config.family)});
  if (table.reads()) config = DefaultsOf(config.family);
  table.Size("hidden_size", config.model, "the model dimension");
  table.Layers("num_hidden_layers", config.layers);
  table.Size("num_attention_heads", config.heads, "the number of heads");
  if (table.reads()) config.key_heads = DefaultKeyHeads(table.json(), config);
  std::int32_t key_heads = config.KeyHeads();
  table.Size("num_key_value_heads", key_heads, "the number of key heads");
  config.key_heads = key_heads;
  table.Rule(config.heads % std::max(1, key_heads) == 0,
             "the number of key heads must divide that of heads: {} does not divide {}", key_heads, config.heads);
  table.Rule(config.head_dim > 0 || config.model % std::max(1, config.heads) == 0,
             "the number of heads must divide the model dimension: {} does not divide {}", config.heads, config.model);
  table.Default(config.head_dim, config.family == LlamaFamily::qwen3 ? 128 : config.model / std::max(1, config.heads));
  std::int64_t head_dim = config.HeadDim();
  table.Size("head_dim", head_dim, "a head's dimension");
  config.head_dim = head_dim;
  table.Rule(head_dim % 2 == 0, "rotary positions turn pairs: the {} numbers of a head are odd", head_dim);
  table.Rule(config.heads * head_dim <= kLargestSize, "the heads' dimensions together must be at most {}, not {}",
             kLargestSize, config.heads * head_dim);
  table.Size("intermediate_size", config.ffn, "the ffn dimension");
  table.Choice("hidden_act", config.activation, kGateNames);
  DescribeFamily(table, config);
  table.Probability("attention_dropout", config.attention_dropout);
  table.Epsilon("rms_norm_eps", config.norm_epsilon);
  DescribeRotary(table, config.rotary);
  table.Size("vocab_size", config.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", config.positions, "the number of positions");
  if (table.reads()) {
    config.begin_id = ReadTokenId(table.json(), "bos_token_id", config.begin_id, config.vocabulary);
    config.end_id = ReadTokenId(table.json(), "eos_token_id", config.end_id, config.vocabulary);
  }
  table.Note("bos_token_id", WriteTokenId(config.begin_id));
  table.Note("eos_token_id", WriteTokenId(config.end_id));
  table.Flag("tie_word_embeddings", config.tie_output);
  table.Harmless({"pretraining_tp"});  // how another program divides its products
}

namespace {

std::unique_ptr<Llama> LoadLlama(const ModelFolder& files, const LoadModelOptions& options) {
  LlamaConfig config;
  ReadConfig(files.config, config, options.dropout);
  config.scope = ScopeIn(files.weights, config.scope);
  const std::string scope = Prefix(config.scope);
  auto model = std::make_unique<Llama>(config);
  // The angles' frequencies, which the base says.
  std::vector<std::string> unused = {scope + "rotary_emb.inv_freq"};
  for (int layer = 0; layer < config.layers; ++layer)
    unused.push_back(fmt::format("{}layers.{}.self_attn.rotary_emb.inv_freq", scope, layer));
  std::vector<std::pair<std::string, std::string>> tied;
  if (config.tie_output) tied = {{"lm_head.weight", scope + "embed_tokens.weight"}};
  LoadWeights(files, options, model->parameters(), {.tied = std::move(tied), .unused = std::move(unused)});
  return model;
}

template <LlamaFamily family>
std::unique_ptr<LanguageModel> NewOf(const LanguageModelSizes& sizes) {
  LlamaConfig config = DefaultsOf(family);
  config.model = sizes.model;
  config.layers = sizes.layers;
  config.heads = sizes.heads;
  config.key_heads = sizes.key_heads;
  config.ffn = sizes.ffn;
  config.attention_dropout = sizes.attention_dropout;
  config.vocabulary = sizes.vocabulary;
  config.positions = sizes.positions;
  config.begin_id = sizes.begin_id;
  config.end_id = sizes.end_id;
  config.tie_output = true;
  if (family == LlamaFamily::mistral) config.windows.window = 4096;
  for (int layer = 0; family == LlamaFamily::smollm3 && layer < sizes.layers; ++layer)
    config.rotates.push_back(layer % 4 != 3);
  return std::make_unique<Llama>(config);
}

// The gate's matrix makes three of two: "a dimension of 2/3 4d instead of 4d" (LLaMA, section 2.2).
NewLanguageModel FromScratch(std::string_view name, std::unique_ptr<LanguageModel> (*make)(const LanguageModelSizes&)) {
  return {.name = name, .make = make, .dropout = false, .grouped_keys = true, .ffn_of_model = 8.0 / 3, .ffn_step = 32};
}

}  // namespace

namespace families {
extern const Family llama = MakeFamily<Llama, LoadLlama>(
    {"llama", "mistral", "qwen2", "qwen3", "smollm3"},
    {FromScratch("llama", NewOf<LlamaFamily::llama>), FromScratch("mistral", NewOf<LlamaFamily::mistral>),
     FromScratch("qwen2", NewOf<LlamaFamily::qwen2>), FromScratch("qwen3", NewOf<LlamaFamily::qwen3>),
     FromScratch("smollm3", NewOf<LlamaFamily::smollm3>)});
}  // namespace families

void Llama::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
