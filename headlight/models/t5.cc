#include "headlight/models/t5.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/config_rules.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/residual.h"
#include "headlight/ops/view.h"

namespace headlight {

void CheckConfig(const T5Config& config) {
  CheckSize("the model dimension", config.model);
  CheckSize("the number of encoder layers", config.encoder_layers);
  CheckSize("the number of decoder layers", config.decoder_layers);
  CheckSize("the number of heads", config.heads);
  CheckSize("a head's dimension", config.head_dim);
  CheckSize("the heads' dimensions together", config.heads * config.head_dim);
  CheckSize("the ffn dimension", config.ffn);
  CheckSize("the vocabulary's size", config.vocabulary);
  CheckProbability("dropout", config.dropout);
  CheckNormEpsilon(config.norm_epsilon);
  for (const std::int32_t id : {config.start_id, config.end_id, config.pad_id}) CheckToken(id, config.vocabulary);
}

namespace {

MultiHeadAttentionConfig AttentionOf(const T5Config& config) {
  return {.model = config.model,
          .heads = config.heads,
          .head_dim = config.head_dim,
          .dropout = config.dropout,
          .names = {"q", "k", "v", "o"},
          .biases = false,
          .scale = 1};  // what 1 / sqrt(head_dim) does elsewhere is left to how the weights begin
}

}  // namespace

T5FeedForward::T5FeedForward(const Scope& scope, const T5Config& config)
    : config_(config),
      inner_(scope, config.gated ? std::vector<std::string>{"wi_0", "wi_1"} : std::vector<std::string>{"wi"},
             config.model, config.gated ? 2 * config.ffn : config.ffn, /*bias=*/false),
      outer_(scope, {"wo"}, config.ffn, config.model, /*bias=*/false) {}

Tensor T5FeedForward::operator()(Context& context, const Tensor& x) const {
  Tensor inner;
  if (config_.gated) {
    const Tensor both = inner_(context, x);
    inner = ops::Multiply(ops::Activate(config_.activation, ops::Columns(both, 0, config_.ffn)),
                          ops::Columns(both, config_.ffn, config_.ffn));
  } else {
    inner = inner_(context, x, config_.activation);
  }
  return outer_(context, ops::Drop(inner, context.NextDropout(config_.dropout)));
}

T5Layer::T5Layer(const Scope& scope, const T5Config& config, int layer, bool decoder)
    : dropout_(config.dropout),
      layer_(layer),
      decoder_(decoder),
      self_attention_(scope / "layer" / 0 / "SelfAttention", AttentionOf(config),
                      decoder ? AttentionKind::decoder_self : AttentionKind::encoder_self, layer),
      self_attention_norm_(scope / "layer" / 0 / "layer_norm", config.model, config.norm_epsilon),
      feed_forward_(scope / "layer" / (decoder ? 2 : 1) / "DenseReluDense", config),
      feed_forward_norm_(scope / "layer" / (decoder ? 2 : 1) / "layer_norm", config.model, config.norm_epsilon) {
  if (!decoder) return;
  cross_attention_.emplace(scope / "layer" / 1 / "EncDecAttention", AttentionOf(config), AttentionKind::cross, layer);
  cross_attention_norm_.emplace(scope / "layer" / 1 / "layer_norm", config.model, config.norm_epsilon);
}

Tensor T5Layer::operator()(Context& context, const Tensor& x, const Sequences& sentences,
                           const ops::AttentionBias& positions, const Memory* memory) const {
  const auto add = [&](const Tensor& to, const Tensor& sublayer) {
    return ops::Residual(to, sublayer, context.NextDropout(dropout_));
  };
  Tensor hidden = add(
      x, self_attention_.Self(context, self_attention_norm_(context, x), sentences, /*causal=*/decoder_, positions));
  if (decoder_)
    hidden = add(hidden, CrossAttention(context, *cross_attention_, layer_, (*cross_attention_norm_)(context, hidden),
                                        sentences, *memory));
  return add(hidden, feed_forward_(context, feed_forward_norm_(context, hidden)));
}

T5Stack::T5Stack(const Scope& scope, const T5Config& config, bool decoder)
    : dropout_(config.dropout),
      positions_(scope / "block.0.layer.0.SelfAttention.relative_attention_bias",
                 {/*both_directions=*/!decoder, config.buckets, config.max_distance}, config.heads,
                 1 / std::sqrt(static_cast<double>(config.model))),
      final_norm_(scope / "final_layer_norm", config.model, config.norm_epsilon) {
  for (int layer = 0; layer < (decoder ? config.decoder_layers : config.encoder_layers); ++layer)
    layers_.emplace_back(scope / "block" / layer, config, layer, decoder);
}

Tensor T5Stack::operator()(Context& context, const Tensor& embedded, const Sequences& sentences,
                           const Memory* memory) const {
  if (context.cache != nullptr && memory != nullptr) {
    if (context.cache->memory.empty()) context.cache->memory = memory->sentences;
    context.cache->Append(sentences);
    context.cache->layers.resize(layers_.size());
  }
  const ops::AttentionBias positions = positions_(context);
  Tensor hidden = ops::Drop(embedded, context.NextDropout(dropout_));
  for (const T5Layer& layer : layers_) hidden = layer(context, hidden, sentences, positions, memory);
  return ops::Drop(final_norm_(context, hidden), context.NextDropout(dropout_));
}

T5::T5(const T5Config& config, DType dtype) : EncoderDecoder(dtype), config_(config) {
  CheckConfig(config);
  limits_ = {config.vocabulary, config.vocabulary, kLongest, config.start_id, config.end_id, config.pad_id};
  const Scope root(parameters_);
  Parameter& words = (root / "shared").Declare("weight", {config.vocabulary, config.model}, Initialisation::Normal(1));
  words.looked_up = true;
  words.in_products = config.tie_output;
  words_ = output_ = &words;
  encoder_.emplace(root / "encoder", config, /*decoder=*/false);
  decoder_.emplace(root / "decoder", config, /*decoder=*/true);
  if (!config.tie_output) output_ = &root.DeclareMatrix({"lm_head.weight"}, {config.vocabulary, config.model});
  // Scores that nothing scales must begin small: of deviation 1. In self-attention queries and keys are one matrix.
  for (Parameter& parameter : parameters_.all()) {
    const std::string& name = parameter.names.front();
    if (!name.ends_with("Attention.q.weight")) continue;
    const double share = name.ends_with("EncDecAttention.q.weight") ? -0.5 : -0.25;
    parameter.initialisation = Initialisation::Normal(std::pow(static_cast<double>(config.model), -0.5) *
                                                      std::pow(static_cast<double>(config.head_dim), share));
  }
}

Tensor T5::Embed(Context& context, std::span<const std::int32_t> ids) const {
  if (words_->value.empty()) return ops::Rows(context.UseWeight(*words_), ids);  // only packed
  return ops::Embedding(context.Use(*words_), ids);
}

Tensor T5::Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sentences) const {
  return (*encoder_)(context, Embed(context, ids), sentences, nullptr);
}

Tensor T5::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sentences,
                  const Memory& memory) const {
  const Tensor hidden = (*decoder_)(context, Embed(context, ids), sentences, &memory);
  return config_.scale_output ? ops::Scale(hidden, 1 / std::sqrt(static_cast<double>(config_.model))) : hidden;
}

namespace {

T5Config ReadConfig(const JsonView& json, const Safetensors& weights) {
  constexpr std::int64_t most = kMostOfASize;
  T5Config config;
  config.multilingual = json["model_type"].String({"t5", "mt5"}) == "mt5";
  if (config.multilingual) {  // what is not said is mT5-small's
    config.encoder_layers = 8;
    config.heads = 6;
    config.ffn = 1024;
    config.vocabulary = 250112;
  }
  const auto size = [&](const char* key, std::int64_t fallback, std::int64_t limit) {
    return json.Get(key, fallback).Integer(1, limit);
  };
  const auto id = [&](const char* key, std::int32_t fallback) {
    return static_cast<std::int32_t>(json.Get(key, fallback).Integer(0, most));
  };
  config.model = size("d_model", config.model, most);
  config.encoder_layers = static_cast<int>(size("num_layers", config.encoder_layers, 1024));
  config.decoder_layers = static_cast<int>(size("num_decoder_layers", config.encoder_layers, 1024));
  config.heads = static_cast<std::int32_t>(size("num_heads", config.heads, most));
  config.head_dim = size("d_kv", config.head_dim, most);
  config.ffn = size("d_ff", config.ffn, most);
  // "relu", or "gated-" and an activation, which in "gated-gelu" is the approximation.
  const std::string feed_forward = json.Get("feed_forward_proj", config.multilingual ? "gated-gelu" : "relu").String();
  config.gated = feed_forward.starts_with("gated-");
  const std::string activation = feed_forward == "gated-gelu" ? "gelu_new" : feed_forward.substr(config.gated ? 6 : 0);
  if (!json["dense_act_fn"].present() || json["dense_act_fn"].String() == activation)
    config.activation = ActivationNamed(JsonView(Json(activation), json["feed_forward_proj"].place()));
  else
    config.activation = ActivationNamed(json["dense_act_fn"]);
  Check(json.Get("is_gated_act", config.gated).Bool() == config.gated, "{}: contradicts feed_forward_proj, {}",
        json["is_gated_act"].place(), Quoted(feed_forward));
  config.buckets = static_cast<std::int32_t>(size("relative_attention_num_buckets", config.buckets, most));
  config.max_distance = static_cast<std::int32_t>(size("relative_attention_max_distance", config.max_distance, most));
  config.dropout = json.Get("dropout_rate", config.dropout).Number(0, 1);
  config.norm_epsilon = json.Get("layer_norm_epsilon", config.norm_epsilon).Number(0, 1);
  config.vocabulary = size("vocab_size", config.vocabulary, most);
  config.pad_id = id("pad_token_id", 0);
  config.start_id = id("decoder_start_token_id", config.pad_id);
  config.end_id = id("eos_token_id", 1);
  Check(!json.Get("is_decoder", false).Bool(), "{}: a T5 that is only a decoder is not supported",
        json["is_decoder"].place());
  // Published configurations of T5 1.1 say by tie_word_embeddings that states are not scaled; of mT5 none are. Whether
  // there are two tables is seen by the weights.
  const bool tied = json.Get("tie_word_embeddings", true).Bool();
  config.scale_output = !config.multilingual && json.Get("scale_decoder_outputs", tied).Bool();
  config.tie_output = !weights.contains("lm_head.weight") ||
                      (weights.contains("shared.weight") &&
                       std::ranges::equal(weights.At("lm_head.weight").bytes, weights.At("shared.weight").bytes));
  RefuseUnreadSettings(json, {"classifier_dropout", "initializer_factor", "n_positions"});
  CheckConfig(config);
  return config;
}

Json ConfigJson(const T5Config& config) {
  const bool gelu_gate = config.gated && config.activation == Activation::gelu_tanh;
  const std::string activation = NameOf(config.activation);
  return Json::Object{{"architectures",
                       Json::Array{config.multilingual ? "MT5ForConditionalGeneration" : "T5ForConditionalGeneration"}},
                      {"model_type", config.multilingual ? "mt5" : "t5"},
                      {"is_encoder_decoder", true},
                      {"d_model", config.model},
                      {"num_layers", config.encoder_layers},
                      {"num_decoder_layers", config.decoder_layers},
                      {"num_heads", config.heads},
                      {"d_kv", config.head_dim},
                      {"d_ff", config.ffn},
                      {"feed_forward_proj", gelu_gate      ? "gated-gelu"
                                            : config.gated ? "gated-" + activation
                                                           : activation},
                      {"dense_act_fn", activation},
                      {"relative_attention_num_buckets", config.buckets},
                      {"relative_attention_max_distance", config.max_distance},
                      {"dropout_rate", config.dropout},
                      {"layer_norm_epsilon", config.norm_epsilon},
                      {"tie_word_embeddings", config.multilingual ? config.tie_output : config.scale_output},
                      {"vocab_size", config.vocabulary},
                      {"pad_token_id", config.pad_id},
                      {"decoder_start_token_id", config.start_id},
                      {"eos_token_id", config.end_id},
                      {"dtype", "float32"}};
}

// A file may hold again what is tied, as long as it is the same, and the positions of cross-attention that the first
// checkpoints have and no T5 reads.
bool HarmlessTensor(std::string_view name, const Safetensors& file) {
  if (name == "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight") return true;
  const bool again =
      name == "encoder.embed_tokens.weight" || name == "decoder.embed_tokens.weight" || name == "lm_head.weight";
  return again && SameAsTied(file, name, "shared.weight");
}

std::unique_ptr<T5> Load(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<T5>(ReadConfig(files.config, files.weights));
  LoadWeights(files, options, model->parameters(),
              [&](std::string_view name) { return HarmlessTensor(name, files.weights); });
  return model;
}

}  // namespace

namespace families {
extern const Family t5 = MakeFamily<T5, Load>({"t5", "mt5"});
}  // namespace families

void T5::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, ConfigJson(config_), parameters_, compute);
}

}  // namespace headlight
