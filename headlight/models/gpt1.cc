#include "headlight/models/gpt1.h"

#include <string_view>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/config_rules.h"
#include "headlight/models/files/language_model_files.h"
#include "headlight/nn/decoder_cache.h"

namespace headlight {

void CheckConfig(const Gpt1Config& config) {
  CheckSize("the model dimension", config.model);
  CheckSize("the number of layers", config.layers);
  CheckHeads("the number of heads", config.heads, config.model);
  CheckSize("the vocabulary's size", config.vocabulary);
  CheckSize("the number of positions", config.positions);
  for (const double dropout : {config.dropout, config.embedding_dropout, config.attention_dropout})
    CheckProbability("dropout", dropout);
  CheckNormEpsilon(config.norm_epsilon);
}

// The first program's matrices were convolutions of width 1, whose weights are [inputs, outputs].
Gpt1Layer::Gpt1Layer(const Scope& scope, const Gpt1Config& config, int layer)
    : dropout_(config.dropout),
      attention_(scope / "attn",
                 {.model = config.model,
                  .heads = config.heads,
                  .dropout = config.attention_dropout,
                  .names = {.output = "c_proj", .query_key_value = "c_attn"},
                  .stored_transposed = true},
                 AttentionKind::decoder_self, layer),
      attention_norm_(scope / "ln_1", config.model, config.norm_epsilon),
      feed_forward_(scope / "mlp", config.model, 4 * config.model, config.activation, {"c_fc", "c_proj"},
                    /*stored_transposed=*/true),
      feed_forward_norm_(scope / "ln_2", config.model, config.norm_epsilon) {}

// The paper's transformer_block (eq. 2), which is the decoder layer of the Transformer's figure 1 without its middle.
Tensor Gpt1Layer::operator()(Context& context, const Tensor& x, const Sequences& texts) const {
  const Tensor attended =
      attention_norm_.AfterResidual(context, x, attention_.Self(context, x, texts, /*causal=*/true), dropout_);
  return feed_forward_norm_.AfterResidual(context, attended, feed_forward_(context, attended), dropout_);
}

Gpt1::Gpt1(const Gpt1Config& config, DType dtype) : LanguageModel(dtype), config_(config) {
  CheckConfig(config);
  limits_ = {config.vocabulary, config.positions, config.end_id};
  const Scope root(parameters_), transformer = config.scope.empty() ? root : root / config.scope;
  const Initialisation normal = Initialisation::Normal(0.02);  // section 4.1
  Parameter& words = (transformer / "tokens_embed").Declare("weight", {config.vocabulary, config.model}, normal);
  words.looked_up = true;
  Parameter& output =
      config.tie_output ? words : (root / "lm_head").Declare("weight", {config.vocabulary, config.model}, normal);
  output.in_products = true;
  output_ = &output;
  embedding_.emplace(
      words, 1.0,
      PositionalEncoding::Learned(transformer / "positions_embed", config.positions, config.model, /*first=*/0, 0.02),
      config.embedding_dropout);
  for (int layer = 0; layer < config.layers; ++layer) layers_.emplace_back(transformer / "h" / layer, config, layer);
  for (Parameter& parameter : parameters_.all())
    if (parameter.stored_transposed) parameter.initialisation = normal;
}

// h_0 = U W_e + W_p, h_l = transformer_block(h_(l-1)) (eq. 2); the softmax over h_n W_e^T is the caller's.
Tensor Gpt1::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  std::vector<std::int32_t> first_positions;
  if (context.cache != nullptr) first_positions = context.cache->Append(texts);
  Tensor hidden = (*embedding_)(context, ids, texts, first_positions);
  for (const Gpt1Layer& layer : layers_) hidden = layer(context, hidden, texts);
  return hidden;
}

namespace {

// What it calls gelu is gelu's approximation by tanh.
Activation ReadActivation(const JsonView& name) {
  return name.String({"relu", "silu", "gelu", "swish"}) == "gelu" ? Activation::gelu_tanh : ActivationNamed(name);
}

const char* NameOfActivation(Activation activation) {
  Check(activation != Activation::gelu && activation != Activation::tanh,
        "a GPT's activation is gelu_tanh, relu or silu");
  return activation == Activation::gelu_tanh ? "gelu" : NameOf(activation);
}

Gpt1Config ReadConfig(const JsonView& json, const Safetensors& weights) {
  Gpt1Config config;
  json["model_type"].String({"openai-gpt"});
  const auto size = [&](const char* key, std::int64_t fallback) {
    return json.Get(key, fallback).Integer(1, kMostOfASize);
  };
  config.model = size("n_embd", config.model);
  config.layers = static_cast<int>(json.Get("n_layer", config.layers).Integer(1, 1024));
  config.heads = static_cast<std::int32_t>(size("n_head", config.heads));
  config.activation = ReadActivation(json.Get("afn", "gelu"));
  config.dropout = json.Get("resid_pdrop", config.dropout).Number(0, 1);
  config.embedding_dropout = json.Get("embd_pdrop", config.embedding_dropout).Number(0, 1);
  config.attention_dropout = json.Get("attn_pdrop", config.attention_dropout).Number(0, 1);
  config.norm_epsilon = json.Get("layer_norm_epsilon", config.norm_epsilon).Number(0, 1);
  config.vocabulary = size("vocab_size", config.vocabulary);
  config.positions = size("n_positions", config.positions);
  config.end_id = ReadEndId(json, config.end_id, config.vocabulary);
  config.tie_output = json.Get("tie_word_embeddings", true).Bool();
  RefuseUnreadLanguageModelSettings(json);
  config.scope = weights.contains("transformer.tokens_embed.weight") ? "transformer" : "";
  CheckConfig(config);
  return config;
}

Json ConfigJson(const Gpt1Config& config) {
  return Json::Object{{"architectures", Json::Array{"OpenAIGPTLMHeadModel"}},
                      {"model_type", "openai-gpt"},
                      {"n_embd", config.model},
                      {"n_layer", config.layers},
                      {"n_head", config.heads},
                      {"afn", NameOfActivation(config.activation)},
                      {"resid_pdrop", config.dropout},
                      {"embd_pdrop", config.embedding_dropout},
                      {"attn_pdrop", config.attention_dropout},
                      {"layer_norm_epsilon", config.norm_epsilon},
                      {"vocab_size", config.vocabulary},
                      {"n_positions", config.positions},
                      {"eos_token_id", EndIdJson(config.end_id)},
                      {"tie_word_embeddings", config.tie_output},
                      {"dtype", "float32"}};
}

std::unique_ptr<Gpt1> Load(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<Gpt1>(ReadConfig(files.config, files.weights));
  const std::string scope = model->config().scope.empty() ? "" : "transformer.";
  LoadWeights(files, options, model->parameters(), [&](std::string_view name) {
    return IsCausalMask(name) || name == scope + "position_ids" ||
           (model->config().tie_output && name == "lm_head.weight" &&
            SameAsTied(files.weights, name, scope + "tokens_embed.weight"));
  });
  return model;
}

}  // namespace

namespace families {
extern const Family gpt1 = MakeFamily<Gpt1, Load>({"openai-gpt"});
}  // namespace families

void Gpt1::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, ConfigJson(config_), parameters_, compute);
}

}  // namespace headlight
