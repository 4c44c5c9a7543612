#include "headlight/models/gpt3.h"

#include <cmath>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/config_rules.h"
#include "headlight/models/files/language_model_files.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/residual.h"

namespace headlight {

void CheckConfig(const Gpt3Config& config) {
  CheckSize("the model dimension", config.model);
  CheckSize("the number of layers", config.layers);
  CheckHeads("the number of heads", config.heads, config.model);
  CheckSize("the ffn dimension", config.ffn);
  CheckSize("the window of banded attention", config.window);
  Check(!config.banded.empty(), "at least one layer's attention must be said to be dense or banded");
  CheckSize("the vocabulary's size", config.vocabulary);
  CheckSize("the number of positions", config.positions);
  for (const double dropout : {config.dropout, config.embedding_dropout, config.attention_dropout})
    CheckProbability("dropout", dropout);
  CheckNormEpsilon(config.norm_epsilon);
}

// "Alternating dense and locally banded sparse attention patterns in the layers of the transformer" (section 2.1).
Gpt3Layer::Gpt3Layer(const Scope& scope, const Gpt3Config& config, int layer)
    : dropout_(config.dropout),
      attention_norm_(scope / "ln_1", config.model, config.norm_epsilon),
      attention_(scope / "attn" / "attention",
                 {.model = config.model,
                  .heads = config.heads,
                  .dropout = config.attention_dropout,
                  .biases = false,
                  .output_bias = true,
                  .scale = 1,  // GPT-Neo's scores are not scaled
                  .window = config.IsBanded(layer) ? config.window : 0},
                 AttentionKind::decoder_self, layer),
      feed_forward_norm_(scope / "ln_2", config.model, config.norm_epsilon),
      feed_forward_(scope / "mlp", config.model, config.ffn, config.activation, {"c_fc", "c_proj"}) {}

Tensor Gpt3Layer::operator()(Context& context, const Tensor& x, const Sequences& texts) const {
  const Tensor attention = attention_.Self(context, attention_norm_(context, x), texts, /*causal=*/true);
  const Tensor attended = ops::Residual(x, attention, context.NextDropout(dropout_));
  const Tensor change = feed_forward_(context, feed_forward_norm_(context, attended));
  return ops::Residual(attended, change, context.NextDropout(dropout_));
}

Gpt3::Gpt3(const Gpt3Config& config, DType dtype) : LanguageModel(dtype), config_(config) {
  CheckConfig(config);
  limits_ = {config.vocabulary, config.positions, config.end_id};
  const Scope root(parameters_), transformer = config.scope.empty() ? root : root / config.scope;
  const Initialisation normal = Initialisation::Normal(0.02);
  Parameter& words = (transformer / "wte").Declare("weight", {config.vocabulary, config.model}, normal);
  words.looked_up = true;
  Parameter& output =
      config.tie_output ? words : (root / "lm_head").Declare("weight", {config.vocabulary, config.model}, normal);
  output.in_products = true;
  output_ = &output;
  embedding_.emplace(
      words, 1.0, PositionalEncoding::Learned(transformer / "wpe", config.positions, config.model, /*first=*/0, 0.02),
      config.embedding_dropout);
  for (int layer = 0; layer < config.layers; ++layer) layers_.emplace_back(transformer / "h" / layer, config, layer);
  final_norm_.emplace(transformer / "ln_f", config.model, config.norm_epsilon);

  // As GPT-2 begins (its section 2.3): 0.02, and where a sublayer's output is added less, by sqrt(sublayers).
  for (Parameter& parameter : parameters_.all()) {
    const std::string& name = parameter.names.front();
    const bool added = name.ends_with("out_proj.weight") || name.ends_with("c_proj.weight");
    if (parameter.in_products)
      parameter.initialisation = Initialisation::Normal(0.02 / (added ? std::sqrt(2.0 * config.layers) : 1.0));
  }
}

Tensor Gpt3::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  std::vector<std::int32_t> first_positions;
  if (context.cache != nullptr) first_positions = context.cache->Append(texts);
  Tensor hidden = (*embedding_)(context, ids, texts, first_positions);
  for (const Gpt3Layer& layer : layers_) hidden = layer(context, hidden, texts);
  return (*final_norm_)(context, hidden);
}

namespace {

// attention_types, [[["global", "local"], 6]]: patterns of layers and how often each is repeated; one entry a layer.
std::vector<bool> ReadBanded(const JsonView& json, int layers) {
  std::vector<bool> banded;
  for (const JsonView& group : json.Items()) {
    const std::vector<JsonView> pattern_and_times = group.Items();
    Check(pattern_and_times.size() == 2, "{}: must be a list of kinds and how often it is repeated", group.place());
    const std::int64_t times = pattern_and_times[1].Integer(0, layers);
    for (std::int64_t i = 0; i < times; ++i)
      for (const JsonView& kind : pattern_and_times[0].Items())
        banded.push_back(kind.String({"global", "local"}) == "local");
  }
  Check(banded.size() == static_cast<std::size_t>(layers), "{}: it says what {} layers are, and num_layers is {}",
        json.place(), banded.size(), layers);
  return banded;
}

Gpt3Config ReadConfig(const JsonView& json, const Safetensors& weights) {
  Gpt3Config config;
  json["model_type"].String({"gpt_neo"});
  const auto size = [&](const char* key, std::int64_t fallback) {
    return json.Get(key, fallback).Integer(1, kMostOfASize);
  };
  config.model = size("hidden_size", 2048);
  config.layers = static_cast<int>(json.Get("num_layers", 24).Integer(1, 1024));
  config.heads = static_cast<std::int32_t>(size("num_heads", 16));
  config.ffn = size("intermediate_size", 4 * config.model);
  config.banded = ReadBanded(json.Get("attention_types", Json::Array{Json::Array{Json::Array{"global", "local"}, 12}}),
                             config.layers);
  config.window = static_cast<std::int32_t>(size("window_size", config.window));
  config.activation = ActivationNamed(json.Get("activation_function", "gelu_new"));
  config.dropout = json.Get("resid_dropout", config.dropout).Number(0, 1);
  config.embedding_dropout = json.Get("embed_dropout", config.embedding_dropout).Number(0, 1);
  config.attention_dropout = json.Get("attention_dropout", config.attention_dropout).Number(0, 1);
  config.norm_epsilon = json.Get("layer_norm_epsilon", config.norm_epsilon).Number(0, 1);
  config.vocabulary = size("vocab_size", config.vocabulary);
  config.positions = size("max_position_embeddings", config.positions);
  config.end_id = ReadEndId(json, config.end_id, config.vocabulary);
  config.tie_output = json.Get("tie_word_embeddings", true).Bool();
  json["attention_layers"];  // attention_types, written out
  RefuseUnreadLanguageModelSettings(json);
  config.scope = weights.contains("transformer.wte.weight") ? "transformer" : "";
  CheckConfig(config);
  return config;
}

Json ConfigJson(const Gpt3Config& config) {
  Json::Array kinds;
  for (int layer = 0; layer < config.layers; ++layer) kinds.push_back(config.IsBanded(layer) ? "local" : "global");
  return Json::Object{{"architectures", Json::Array{"GPTNeoForCausalLM"}},
                      {"model_type", "gpt_neo"},
                      {"hidden_size", config.model},
                      {"num_layers", config.layers},
                      {"num_heads", config.heads},
                      {"intermediate_size", config.ffn},
                      {"attention_types", Json::Array{Json::Array{kinds, 1}}},
                      {"attention_layers", kinds},
                      {"window_size", config.window},
                      {"activation_function", NameOf(config.activation)},
                      {"resid_dropout", config.dropout},
                      {"embed_dropout", config.embedding_dropout},
                      {"attention_dropout", config.attention_dropout},
                      {"layer_norm_epsilon", config.norm_epsilon},
                      {"vocab_size", config.vocabulary},
                      {"max_position_embeddings", config.positions},
                      {"bos_token_id", EndIdJson(config.end_id)},
                      {"eos_token_id", EndIdJson(config.end_id)},
                      {"tie_word_embeddings", config.tie_output},
                      {"dtype", "float32"}};
}

std::unique_ptr<Gpt3> Load(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<Gpt3>(ReadConfig(files.config, files.weights));
  const std::string words = (model->config().scope.empty() ? "" : "transformer.") + std::string("wte.weight");
  LoadWeights(files, options, model->parameters(), [&](std::string_view name) {
    return IsCausalMask(name) ||
           (model->config().tie_output && name == "lm_head.weight" && SameAsTied(files.weights, name, words));
  });
  return model;
}

}  // namespace

namespace families {
extern const Family gpt3 = MakeFamily<Gpt3, Load>({"gpt_neo"});
}  // namespace families

void Gpt3::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, ConfigJson(config_), parameters_, compute);
}

}  // namespace headlight
