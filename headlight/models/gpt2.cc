#include "headlight/models/gpt2.h"

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

void CheckConfig(const Gpt2Config& config) {
  CheckSize("the model dimension", config.model);
  CheckSize("the number of layers", config.layers);
  CheckHeads("the number of heads", config.heads, config.model);
  CheckSize("the ffn dimension", config.ffn);
  CheckSize("the vocabulary's size", config.vocabulary);
  CheckSize("the number of positions", config.positions);
  for (const double dropout : {config.dropout, config.embedding_dropout, config.attention_dropout})
    CheckProbability("dropout", dropout);
  CheckNormEpsilon(config.norm_epsilon);
}

namespace {

double AttentionScale(const Gpt2Config& config, int layer) {
  const double head_dim = static_cast<double>(config.model) / config.heads;
  return (config.scale_attention ? 1 / std::sqrt(head_dim) : 1.0) / (config.scale_attention_by_layer ? layer + 1 : 1);
}

}  // namespace

// The first program's matrices were convolutions of width 1, whose weights are [inputs, outputs].
Gpt2Layer::Gpt2Layer(const Scope& scope, const Gpt2Config& config, int layer)
    : dropout_(config.dropout),
      attention_norm_(scope / "ln_1", config.model, config.norm_epsilon),
      attention_(scope / "attn",
                 {.model = config.model,
                  .heads = config.heads,
                  .dropout = config.attention_dropout,
                  .names = {.output = "c_proj", .query_key_value = "c_attn"},
                  .stored_transposed = true,
                  .scale = AttentionScale(config, layer)},
                 AttentionKind::decoder_self, layer),
      feed_forward_norm_(scope / "ln_2", config.model, config.norm_epsilon),
      feed_forward_(scope / "mlp", config.model, config.ffn, config.activation, {"c_fc", "c_proj"},
                    /*stored_transposed=*/true) {}

Tensor Gpt2Layer::operator()(Context& context, const Tensor& x, const Sequences& texts) const {
  const Tensor attention = attention_.Self(context, attention_norm_(context, x), texts, /*causal=*/true);
  const Tensor attended = ops::Residual(x, attention, context.NextDropout(dropout_));
  const Tensor change = feed_forward_(context, feed_forward_norm_(context, attended));
  return ops::Residual(attended, change, context.NextDropout(dropout_));
}

Gpt2::Gpt2(const Gpt2Config& config, DType dtype) : LanguageModel(dtype), config_(config) {
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

  // "We scale the weights of residual layers at initialization by a factor of 1/sqrt(N) where N is the number of
  // residual layers" (section 2.3), of which a layer has two.
  for (Parameter& parameter : parameters_.all())
    if (parameter.stored_transposed)
      parameter.initialisation = Initialisation::Normal(
          0.02 / (parameter.names.front().ends_with("c_proj.weight") ? std::sqrt(2.0 * config.layers) : 1.0));
}

Tensor Gpt2::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  std::vector<std::int32_t> first_positions;
  if (context.cache != nullptr) first_positions = context.cache->Append(texts);
  Tensor hidden = (*embedding_)(context, ids, texts, first_positions);
  for (const Gpt2Layer& layer : layers_) hidden = layer(context, hidden, texts);
  return (*final_norm_)(context, hidden);  // the norm added after the final self-attention block (section 2.3)
}

namespace {

Gpt2Config ReadConfig(const JsonView& json, const Safetensors& weights) {
  Gpt2Config config;
  json["model_type"].String({"gpt2"});
  const auto size = [&](const char* key, std::int64_t fallback) {
    return json.Get(key, fallback).Integer(1, kMostOfASize);
  };
  config.model = size("n_embd", config.model);
  config.layers = static_cast<int>(json.Get("n_layer", config.layers).Integer(1, 1024));
  config.heads = static_cast<std::int32_t>(size("n_head", config.heads));
  config.ffn = size("n_inner", 4 * config.model);
  config.activation = ActivationNamed(json.Get("activation_function", "gelu_new"));
  config.dropout = json.Get("resid_pdrop", config.dropout).Number(0, 1);
  config.embedding_dropout = json.Get("embd_pdrop", config.embedding_dropout).Number(0, 1);
  config.attention_dropout = json.Get("attn_pdrop", config.attention_dropout).Number(0, 1);
  config.norm_epsilon = json.Get("layer_norm_epsilon", config.norm_epsilon).Number(0, 1);
  config.vocabulary = size("vocab_size", config.vocabulary);
  config.positions = size("n_positions", config.positions);
  config.end_id = ReadEndId(json, config.end_id, config.vocabulary);
  config.scale_attention = json.Get("scale_attn_weights", true).Bool();
  config.scale_attention_by_layer = json.Get("scale_attn_by_inverse_layer_idx", false).Bool();
  config.tie_output = json.Get("tie_word_embeddings", true).Bool();
  Check(!json.Get("add_cross_attention", false).Bool(), "{}: a GPT-2 that reads an encoder's output is not supported",
        json["add_cross_attention"].place());
  RefuseUnreadLanguageModelSettings(json);
  config.scope = weights.contains("transformer.wte.weight") ? "transformer" : "";
  CheckConfig(config);
  return config;
}

Json ConfigJson(const Gpt2Config& config) {
  return Json::Object{{"architectures", Json::Array{"GPT2LMHeadModel"}},
                      {"model_type", "gpt2"},
                      {"n_embd", config.model},
                      {"n_layer", config.layers},
                      {"n_head", config.heads},
                      {"n_inner", config.ffn},
                      {"activation_function", NameOf(config.activation)},
                      {"resid_pdrop", config.dropout},
                      {"embd_pdrop", config.embedding_dropout},
                      {"attn_pdrop", config.attention_dropout},
                      {"layer_norm_epsilon", config.norm_epsilon},
                      {"vocab_size", config.vocabulary},
                      {"n_positions", config.positions},
                      {"bos_token_id", EndIdJson(config.end_id)},
                      {"eos_token_id", EndIdJson(config.end_id)},
                      {"scale_attn_weights", config.scale_attention},
                      {"scale_attn_by_inverse_layer_idx", config.scale_attention_by_layer},
                      {"tie_word_embeddings", config.tie_output},
                      {"dtype", "float32"}};
}

std::unique_ptr<Gpt2> Load(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<Gpt2>(ReadConfig(files.config, files.weights));
  const std::string words = (model->config().scope.empty() ? "" : "transformer.") + std::string("wte.weight");
  LoadWeights(files, options, model->parameters(), [&](std::string_view name) {
    return IsCausalMask(name) ||
           (model->config().tie_output && name == "lm_head.weight" && SameAsTied(files.weights, name, words));
  });
  return model;
}

}  // namespace

namespace families {
extern const Family gpt2 = MakeFamily<Gpt2, Load>({"gpt2"});
}  // namespace families

void Gpt2::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, ConfigJson(config_), parameters_, compute);
}

}  // namespace headlight
