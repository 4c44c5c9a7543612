#include "headlight/models/transformer.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/config_rules.h"

namespace headlight {
namespace {

// The settings of the two model types that are this model: config.json as Transformers' MarianConfig and PegasusConfig.
constexpr const char* kPostNormType = "marian";
constexpr const char* kPreNormType = "pegasus";

TransformerLayerConfig LayerOf(const TransformerConfig& config, std::int32_t heads, std::int64_t ffn) {
  return {.model = config.model,
          .heads = heads,
          .ffn = ffn,
          .activation = config.activation,
          .norm = config.norm,
          .dropout = config.dropout,
          .attention_dropout = config.attention_dropout};
}

}  // namespace

void CheckConfig(const TransformerConfig& config) {
  CheckSize("the model dimension", config.model);
  Check(config.model % 2 == 0, "the model dimension must be even, for pairs of sine and cosine, not {}", config.model);
  CheckSize("the number of encoder layers", config.encoder_layers);
  CheckSize("the number of decoder layers", config.decoder_layers);
  CheckHeads("the number of encoder heads", config.encoder_heads, config.model);
  CheckHeads("the number of decoder heads", config.decoder_heads, config.model);
  CheckSize("the encoder's ffn dimension", config.encoder_ffn);
  CheckSize("the decoder's ffn dimension", config.decoder_ffn);
  CheckSize("the source vocabulary's size", config.source_vocabulary);
  CheckSize("the target vocabulary's size", config.target_vocabulary);
  CheckSize("the number of positions", config.positions);
  Check(config.positions <= (1 << 26) / config.model, "{} positions of {} numbers are too many", config.positions,
        config.model);
  CheckProbability("dropout", config.dropout);
  CheckProbability("attention dropout", config.attention_dropout);
  Check(!config.tie_source_target || config.source_vocabulary == config.target_vocabulary,
        "one table for source and target needs one vocabulary, not {} and {} words", config.source_vocabulary,
        config.target_vocabulary);
  Check(config.norm == NormPlace::post || config.tie_source_target,
        "a pre-norm model has one table for source and target, as Pegasus has");
  for (const std::int32_t id : {config.start_id, config.end_id, config.pad_id})
    CheckToken(id, config.target_vocabulary);
}

Transformer::Transformer(const TransformerConfig& config, DType dtype) : EncoderDecoder(dtype), config_(config) {
  CheckConfig(config);
  limits_ = {config.source_vocabulary,
             config.target_vocabulary,
             config.positions,
             config.start_id,
             config.end_id,
             config.pad_id};

  // Embeddings begin at deviation model^-0.5, so that scaled by model^0.5 they have the deviation of the layers' norms.
  const Scope root(parameters_), model = root / "model";
  const Initialisation normal = Initialisation::Normal(1 / std::sqrt(static_cast<double>(config.model)));
  const auto table = [&](const Scope& scope, std::int64_t words) -> Parameter& {
    Parameter& declared = scope.Declare("weight", {words, config.model}, normal);
    declared.looked_up = true;
    return declared;
  };
  if (config.tie_source_target) {
    source_table_ = target_table_ = &table(model / "shared", config.source_vocabulary);
  } else {
    source_table_ = &table(model / "encoder" / "embed_tokens", config.source_vocabulary);
    target_table_ = &table(model / "decoder" / "embed_tokens", config.target_vocabulary);
  }
  Parameter& output =
      config.tie_output ? const_cast<Parameter&>(*target_table_) : table(root / "lm_head", config.target_vocabulary);
  output.in_products = true;
  output_ = &output;
  Parameter& bias = root.Declare("final_logits_bias", {1, config.target_vocabulary}, Initialisation::Constant(0));
  bias.trained = false;
  output_bias_ = &bias;

  const PositionalEncoding positions = PositionalEncoding::Sinusoidal(config.positions, config.model, dtype);
  const double scale = config.scale_embeddings ? std::sqrt(static_cast<double>(config.model)) : 1;
  encoder_.emplace(model / "encoder", LayerOf(config, config.encoder_heads, config.encoder_ffn), config.encoder_layers,
                   Embedding(*source_table_, scale, positions, config.dropout));
  decoder_.emplace(model / "decoder", LayerOf(config, config.decoder_heads, config.decoder_ffn), config.decoder_layers,
                   Embedding(*target_table_, scale, positions, config.dropout));
}

Tensor Transformer::Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sentences) const {
  return (*encoder_)(context, ids, sentences);
}

Tensor Transformer::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sentences,
                           const Memory& memory) const {
  return (*decoder_)(context, ids, sentences, &memory);
}

Json::Object Transformer::Description() const {
  return {{"positions", limits_.positions},
          {"norm", config_.norm == NormPlace::post ? "post" : "pre"},
          {"encoder_layers", config_.encoder_layers},
          {"decoder_layers", config_.decoder_layers},
          {"model", config_.model},
          {"encoder_heads", config_.encoder_heads},
          {"decoder_heads", config_.decoder_heads},
          {"encoder_ffn", config_.encoder_ffn},
          {"decoder_ffn", config_.decoder_ffn}};
}

namespace {

TransformerConfig ReadConfig(const JsonView& json) {
  constexpr std::int64_t most = kMostOfASize;
  TransformerConfig config;
  config.norm =
      json["model_type"].String({kPostNormType, kPreNormType}) == kPostNormType ? NormPlace::post : NormPlace::pre;
  const auto size = [&](const char* key) { return json[key].Integer(1, most); };
  const auto id = [&](const char* key, std::int32_t fallback) {
    return static_cast<std::int32_t>(json.Get(key, fallback).Integer(0, most));
  };
  config.model = size("d_model");
  config.encoder_layers = static_cast<int>(json["encoder_layers"].Integer(1, 1024));
  config.decoder_layers = static_cast<int>(json["decoder_layers"].Integer(1, 1024));
  config.encoder_heads = static_cast<std::int32_t>(size("encoder_attention_heads"));
  config.decoder_heads = static_cast<std::int32_t>(size("decoder_attention_heads"));
  config.encoder_ffn = size("encoder_ffn_dim");
  config.decoder_ffn = size("decoder_ffn_dim");
  config.activation = ActivationNamed(json.Get("activation_function", "gelu"));
  config.dropout = json.Get("dropout", 0.1).Number(0, 1);
  config.attention_dropout = json.Get("attention_dropout", 0.0).Number(0, 1);
  config.scale_embeddings = json.Get("scale_embedding", false).Bool();
  config.tie_source_target = json.Get("share_encoder_decoder_embeddings", true).Bool();
  config.tie_output = json.Get("tie_word_embeddings", true).Bool();
  config.source_vocabulary = size("vocab_size");
  config.target_vocabulary = json.Get("decoder_vocab_size", config.source_vocabulary).Integer(1, most);
  config.positions = json.Get("max_position_embeddings", 1024).Integer(1, most);
  config.pad_id = id("pad_token_id", 0);
  config.start_id = id("decoder_start_token_id", config.pad_id);
  config.end_id = id("eos_token_id", 0);
  RefuseUnreadSettings(json, {"activation_dropout", "add_bias_logits", "add_final_layer_norm", "classif_dropout",
                              "classifier_dropout", "encoder_layerdrop", "decoder_layerdrop", "extra_pos_embeddings",
                              "force_bos_token_to_be_generated", "is_decoder", "normalize_before",
                              "normalize_embedding", "num_hidden_layers", "static_position_embeddings"});
  CheckConfig(config);
  return config;
}

Json ConfigJson(const TransformerConfig& config) {
  const bool post = config.norm == NormPlace::post;
  Json json = Json::Object{{"architectures", Json::Array{post ? "MarianMTModel" : "PegasusForConditionalGeneration"}},
                           {"model_type", post ? kPostNormType : kPreNormType},
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
                           {"activation_dropout", 0.0},
                           {"scale_embedding", config.scale_embeddings},
                           {"tie_word_embeddings", config.tie_output},
                           {"vocab_size", config.source_vocabulary},
                           {"max_position_embeddings", config.positions},
                           {"pad_token_id", config.pad_id},
                           {"decoder_start_token_id", config.start_id},
                           {"eos_token_id", config.end_id},
                           {"forced_eos_token_id", config.end_id},
                           {"dtype", "float32"}};
  if (post) {
    json.Set("share_encoder_decoder_embeddings", config.tie_source_target);
    json.Set("decoder_vocab_size", config.target_vocabulary);
  }
  return json;
}

// The table that Transformers may store under `name` again, or nothing.
std::string TiedTo(std::string_view name, const TransformerConfig& config) {
  const bool source = name == "model.encoder.embed_tokens.weight", target = name == "model.decoder.embed_tokens.weight";
  if (config.tie_source_target && (source || target)) return "model.shared.weight";
  if (!config.tie_output || name != "lm_head.weight") return "";
  return config.tie_source_target ? "model.shared.weight" : "model.decoder.embed_tokens.weight";
}

Tensor Positions(const TransformerConfig& config) {
  Context context;
  return PositionalEncoding::Sinusoidal(config.positions, config.model).Table(context);
}

// A file may hold what a model computes or has already, as long as it is that.
bool HarmlessTensor(std::string_view name, const TransformerConfig& config, const Safetensors& file) {
  if (name == "model.encoder.embed_positions.weight" || name == "model.decoder.embed_positions.weight") {
    const Tensor stored = file.Read(name), computed = Positions(config);
    constexpr float rounding = 1e-2F;  // of 16 bits
    Check(stored.shape() == computed.shape() &&
              std::ranges::equal(stored.span<float>(), computed.span<float>(),
                                 [](float a, float b) { return std::abs(a - b) <= rounding; }),
          "{}: tensor {} is not the sinusoids that this model's positions are", file.path(), name);
    return true;
  }
  const std::string table = TiedTo(name, config);
  return !table.empty() && SameAsTied(file, name, table);
}

std::unique_ptr<Transformer> Load(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<Transformer>(ReadConfig(files.config));
  LoadWeights(files, options, model->parameters(),
              [&](std::string_view name) { return HarmlessTensor(name, model->config(), files.weights); });
  return model;
}

}  // namespace

namespace families {
extern const Family transformer = MakeFamily<Transformer, Load>({kPostNormType, kPreNormType});
}  // namespace families

void Transformer::Save(const std::string& folder, Compute compute) const {
  const Json generation = Json::Object{{"pad_token_id", config_.pad_id},
                                       {"decoder_start_token_id", config_.start_id},
                                       {"eos_token_id", config_.end_id},
                                       {"forced_eos_token_id", config_.end_id},
                                       {"bad_words_ids", Json::Array{Json::Array{config_.pad_id}}},
                                       {"max_length", config_.positions},
                                       {"num_beams", 4}};
  WriteFile(folder + "/generation_config.json", generation.Text());
  // Where the output has a table of its own, Transformers ties none; and in Pegasus it looks for the sinusoids.
  const Tensor positions = Positions(config_);
  std::vector<StoredTensor> more;
  for (const std::string stack : {"model.encoder.", "model.decoder."}) {
    if (config_.tie_source_target && !config_.tie_output)
      more.push_back(Stored(stack + "embed_tokens.weight", parameters_.all().front().value));
    if (config_.norm == NormPlace::pre) more.push_back(Stored(stack + "embed_positions.weight", positions));
  }
  SaveConfigAndWeights(folder, ConfigJson(config_), parameters_, compute, std::move(more));
}

}  // namespace headlight
