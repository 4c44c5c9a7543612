#include "headlight/models/bart.h"

#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/config_rules.h"

namespace headlight {
namespace {

constexpr const char* kPostNormType = "bart";
constexpr const char* kPreNormType = "mbart";

// Rows of a table of positions before the first one's; nobody reads them any more.
constexpr std::int32_t kFirstPosition = 2;

TransformerLayerConfig LayerOf(const BartConfig& config, std::int32_t heads, std::int64_t ffn) {
  return {.model = config.model,
          .heads = heads,
          .ffn = ffn,
          .activation = config.activation,
          .norm = config.norm,
          .dropout = config.dropout,
          .attention_dropout = config.attention_dropout};
}

}  // namespace

void CheckConfig(const BartConfig& config) {
  CheckSize("the model dimension", config.model);
  CheckSize("the number of encoder layers", config.encoder_layers);
  CheckSize("the number of decoder layers", config.decoder_layers);
  CheckSize("the encoder's ffn dimension", config.encoder_ffn);
  CheckSize("the decoder's ffn dimension", config.decoder_ffn);
  CheckSize("the vocabulary's size", config.vocabulary);
  CheckSize("the number of positions", config.positions);
  for (const std::int32_t heads : {config.encoder_heads, config.decoder_heads})
    CheckHeads("the number of heads", heads, config.model);
  for (const double probability : {config.dropout, config.attention_dropout}) CheckProbability("dropout", probability);
  for (const std::int32_t id : {config.start_id, config.end_id, config.pad_id}) CheckToken(id, config.vocabulary);
}

Bart::Bart(const BartConfig& config, DType dtype) : EncoderDecoder(dtype), config_(config) {
  CheckConfig(config);
  limits_ = {config.vocabulary, config.vocabulary, config.positions, config.start_id, config.end_id, config.pad_id};
  const Scope root(parameters_), model = config.scope.empty() ? root : root / config.scope;
  Parameter& words =
      (model / "shared").Declare("weight", {config.vocabulary, config.model}, Initialisation::Normal(0.02));
  words.looked_up = words.in_products = true;
  words_ = &words;
  if (!config.scope.empty()) {
    Parameter& bias = root.Declare("final_logits_bias", {1, config.vocabulary}, Initialisation::Constant(0));
    bias.trained = false;
    output_bias_ = &bias;
  }

  // The norm of embeddings and positions stands besides the layers' own, post-norm or pre-norm.
  const auto embedding = [&](const Scope& stack) {
    return Embedding(
        words, config.scale_embeddings ? std::sqrt(static_cast<double>(config.model)) : 1,
        PositionalEncoding::Learned(stack / "embed_positions", config.positions, config.model, kFirstPosition),
        config.dropout, LayerNorm(stack / "layernorm_embedding", config.model));
  };
  const Scope encoder = model / "encoder", decoder = model / "decoder";
  encoder_.emplace(encoder, LayerOf(config, config.encoder_heads, config.encoder_ffn), config.encoder_layers,
                   embedding(encoder));
  decoder_.emplace(decoder, LayerOf(config, config.decoder_heads, config.decoder_ffn), config.decoder_layers,
                   embedding(decoder));
}

Tensor Bart::Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sentences) const {
  return (*encoder_)(context, ids, sentences);
}

Tensor Bart::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sentences,
                    const Memory& memory) const {
  return (*decoder_)(context, ids, sentences, &memory);
}

namespace {

BartConfig ReadConfig(const JsonView& json, const Safetensors& weights) {
  constexpr std::int64_t most = kMostOfASize;
  BartConfig config;
  const bool pre = json["model_type"].String({kPostNormType, kPreNormType}) == kPreNormType;
  config.norm = pre ? NormPlace::pre : NormPlace::post;
  const auto size = [&](const char* key, std::int64_t fallback, std::int64_t limit) {
    return json.Get(key, fallback).Integer(1, limit);
  };
  const auto id = [&](const char* key, std::int32_t fallback) {
    return static_cast<std::int32_t>(json.Get(key, fallback).Integer(0, most));
  };
  config.model = size("d_model", config.model, most);
  config.encoder_layers = static_cast<int>(size("encoder_layers", config.encoder_layers, 1024));
  config.decoder_layers = static_cast<int>(size("decoder_layers", config.decoder_layers, 1024));
  config.encoder_heads = static_cast<std::int32_t>(size("encoder_attention_heads", config.encoder_heads, most));
  config.decoder_heads = static_cast<std::int32_t>(size("decoder_attention_heads", config.decoder_heads, most));
  config.encoder_ffn = size("encoder_ffn_dim", config.encoder_ffn, most);
  config.decoder_ffn = size("decoder_ffn_dim", config.decoder_ffn, most);
  config.activation = ActivationNamed(json.Get("activation_function", "gelu"));
  config.dropout = json.Get("dropout", config.dropout).Number(0, 1);
  config.attention_dropout = json.Get("attention_dropout", config.attention_dropout).Number(0, 1);
  config.scale_embeddings = json.Get("scale_embedding", false).Bool();
  config.vocabulary = size("vocab_size", config.vocabulary, most);
  config.positions = size("max_position_embeddings", config.positions, most);
  config.pad_id = id("pad_token_id", config.pad_id);
  config.end_id = id("eos_token_id", config.end_id);
  config.start_id = id("decoder_start_token_id", config.end_id);
  // The first checkpoints say what their family is; another answer would be another model.
  const std::pair<const char*, bool> said[] = {{"tie_word_embeddings", true}, {"normalize_embedding", true},
                                               {"normalize_before", pre},     {"add_final_layer_norm", pre},
                                               {"add_bias_logits", false},    {"static_position_embeddings", false},
                                               {"is_decoder", false}};
  for (const auto& [key, expected] : said)
    Check(json.Get(key, expected).Bool() == expected, "{}: {} is not supported in a {}", json[key].place(), !expected,
          pre ? kPreNormType : kPostNormType);
  Check(json.Get("extra_pos_embeddings", kFirstPosition).Integer() == kFirstPosition, "{}: must be {}",
        json["extra_pos_embeddings"].place(), kFirstPosition);
  RefuseUnreadSettings(json, {"activation_dropout", "classif_dropout", "classifier_dropout", "decoder_layerdrop",
                              "encoder_layerdrop", "force_bos_token_to_be_generated", "num_hidden_layers"});
  if (!weights.contains("model.shared.weight") && weights.contains("shared.weight")) config.scope = "";
  CheckConfig(config);
  return config;
}

Json ConfigJson(const BartConfig& config) {
  const bool pre = config.norm == NormPlace::pre;
  const std::string architecture =
      std::string(pre ? "MBart" : "Bart") + (config.scope.empty() ? "Model" : "ForConditionalGeneration");
  return Json::Object{{"architectures", Json::Array{architecture}},
                      {"model_type", pre ? kPreNormType : kPostNormType},
                      {"is_encoder_decoder", true},
                      {"d_model", config.model},
                      {"encoder_layers", config.encoder_layers},
                      {"decoder_layers", config.decoder_layers},
                      {"encoder_attention_heads", config.encoder_heads},
                      {"decoder_attention_heads", config.decoder_heads},
                      {"encoder_ffn_dim", config.encoder_ffn},
                      {"decoder_ffn_dim", config.decoder_ffn},
                      {"activation_function", NameOf(config.activation)},
                      {"dropout", config.dropout},
                      {"attention_dropout", config.attention_dropout},
                      {"scale_embedding", config.scale_embeddings},
                      {"vocab_size", config.vocabulary},
                      {"max_position_embeddings", config.positions},
                      {"pad_token_id", config.pad_id},
                      {"decoder_start_token_id", config.start_id},
                      {"eos_token_id", config.end_id},
                      {"forced_eos_token_id", config.end_id},
                      {"dtype", "float32"}};
}

// A file may hold the words' table again, as long as it is the same.
bool HarmlessTensor(std::string_view name, const BartConfig& config, const Safetensors& file) {
  const std::string scope = config.scope.empty() ? "" : config.scope + ".";
  const bool again = name == scope + "encoder.embed_tokens.weight" || name == scope + "decoder.embed_tokens.weight" ||
                     name == "lm_head.weight";
  return again && SameAsTied(file, name, scope + "shared.weight");
}

std::unique_ptr<Bart> Load(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<Bart>(ReadConfig(files.config, files.weights));
  LoadWeights(files, options, model->parameters(),
              [&](std::string_view name) { return HarmlessTensor(name, model->config(), files.weights); });
  return model;
}

}  // namespace

namespace families {
extern const Family bart = MakeFamily<Bart, Load>({kPostNormType, kPreNormType});
}  // namespace families

void Bart::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, ConfigJson(config_), parameters_, compute);
}

}  // namespace headlight
