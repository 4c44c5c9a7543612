#include "headlight/models/transformer.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/io/model_folder.h"
#include "headlight/nn/activation_names.h"
#include "headlight/nn/stored_parameters.h"

namespace headlight {
namespace {

// The settings of the two model types that are this model: config.json as Transformers' MarianConfig and PegasusConfig.
constexpr const char* kPostNormType = "marian";
constexpr const char* kPreNormType = "pegasus";
// Of folders whose matrices of products are 8-bit integers with a scale a row; Transformers refuses it by this name.
constexpr const char* kQuantization = "headlight";

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
  const auto at_least_one = [](const char* name, std::int64_t value) {
    Check(value >= 1 && value <= (1 << 24), "{} must be from 1 to {}, not {}", name, 1 << 24, value);
  };
  const auto divides = [&](const char* name, std::int64_t heads) {
    at_least_one(name, heads);
    Check(config.model % heads == 0, "{} must divide the model dimension: {} does not divide {}", name, heads,
          config.model);
  };
  const auto probability = [](const char* name, double value) {
    Check(value >= 0 && value < 1, "{} must be at least 0 and below 1, not {}", name, value);
  };
  at_least_one("the model dimension", config.model);
  Check(config.model % 2 == 0, "the model dimension must be even, for pairs of sine and cosine, not {}", config.model);
  at_least_one("the number of encoder layers", config.encoder_layers);
  at_least_one("the number of decoder layers", config.decoder_layers);
  divides("the number of encoder heads", config.encoder_heads);
  divides("the number of decoder heads", config.decoder_heads);
  at_least_one("the encoder's ffn dimension", config.encoder_ffn);
  at_least_one("the decoder's ffn dimension", config.decoder_ffn);
  at_least_one("the source vocabulary's size", config.source_vocabulary);
  at_least_one("the target vocabulary's size", config.target_vocabulary);
  at_least_one("the number of positions", config.positions);
  Check(config.positions <= (1 << 26) / config.model, "{} positions of {} numbers are too many", config.positions,
        config.model);
  probability("dropout", config.dropout);
  probability("attention dropout", config.attention_dropout);
  Check(!config.tie_source_target || config.source_vocabulary == config.target_vocabulary,
        "one table for source and target needs one vocabulary, not {} and {} words", config.source_vocabulary,
        config.target_vocabulary);
  Check(config.norm == NormPlace::post || config.tie_source_target,
        "a pre-norm model has one table for source and target, as Pegasus has");
  for (const std::int32_t id : {config.start_id, config.end_id, config.pad_id})
    Check(id >= 0 && id < config.target_vocabulary, "a special token's id {} is outside the vocabulary of {}", id,
          config.target_vocabulary);
}

Transformer::Transformer(const TransformerConfig& config, DType dtype) : config_(config), parameters_(dtype) {
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

namespace {

TransformerConfig ReadConfig(const JsonView& json) {
  constexpr std::int64_t most = 1 << 24;
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
  if (const JsonView quantization = json["quantization_config"]; quantization.present()) {
    quantization["quant_method"].String({kQuantization});
    quantization["bits"].Integer(8, 8);
  }
  // What remains says how a model was trained, how Transformers generates from it, or what Transformers writes for
  // every model. None of it changes what the model computes.
  json.RefuseUnread({"_name_or_path",
                     "_num_labels",
                     "activation_dropout",
                     "add_bias_logits",
                     "add_final_layer_norm",
                     "architectures",
                     "bad_words_ids",
                     "bos_token_id",
                     "classif_dropout",
                     "classifier_dropout",
                     "dtype",
                     "encoder_layerdrop",
                     "decoder_layerdrop",
                     "extra_pos_embeddings",
                     "force_bos_token_to_be_generated",
                     "forced_eos_token_id",
                     "id2label",
                     "init_std",
                     "is_decoder",
                     "is_encoder_decoder",
                     "label2id",
                     "length_penalty",
                     "max_length",
                     "normalize_before",
                     "normalize_embedding",
                     "num_beams",
                     "num_hidden_layers",
                     "static_position_embeddings",
                     "torch_dtype",
                     "transformers_version",
                     "use_cache"});
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
  if (table.empty() || !file.contains(table)) return false;
  Check(std::ranges::equal(file.At(name).bytes, file.At(table).bytes),
        "{}: tensor {} differs from {}, though the configuration ties them", file.path(), name, table);
  return true;
}

std::unique_ptr<Transformer> Load(const ModelFolder& files, kernels::Compute compute, LoadFor purpose) {
  auto model = std::make_unique<Transformer>(ReadConfig(files.config));
  model->parameters().SetCompute(compute);
  LoadParameters(
      model->parameters(), files.weights,
      [&](std::string_view name) { return HarmlessTensor(name, model->config(), files.weights); }, purpose);
  return model;
}

}  // namespace

std::unique_ptr<Transformer> LoadTransformer(const std::string& folder) {
  return Load(OpenModelFolder(folder), kernels::Compute::float32, LoadFor::everything);
}

std::unique_ptr<const Transformer> LoadTransformer(const std::string& folder, std::optional<kernels::Compute> compute) {
  const ModelFolder files = OpenModelFolder(folder);
  const bool quantized = files.config["quantization_config"].present();
  return Load(files, compute.value_or(quantized ? kernels::Compute::int8 : kernels::Compute::float32),
              LoadFor::computing);
}

void SaveTransformer(const Transformer& model, const std::string& folder, kernels::Compute compute) {
  const TransformerConfig& config = model.config();
  Json json = ConfigJson(config);
  if (compute == kernels::Compute::int8)
    json.Set("quantization_config", Json::Object{{"quant_method", kQuantization}, {"bits", 8}});
  WriteFile(folder + "/config.json", json.Text());
  const Json generation = Json::Object{{"pad_token_id", config.pad_id},
                                       {"decoder_start_token_id", config.start_id},
                                       {"eos_token_id", config.end_id},
                                       {"forced_eos_token_id", config.end_id},
                                       {"bad_words_ids", Json::Array{Json::Array{config.pad_id}}},
                                       {"max_length", config.positions},
                                       {"num_beams", 4}};
  WriteFile(folder + "/generation_config.json", generation.Text());
  // Where the output has a table of its own, Transformers ties none; and in Pegasus it looks for the sinusoids.
  const Tensor positions = Positions(config);
  std::vector<StoredTensor> more;
  for (const std::string stack : {"model.encoder.", "model.decoder."}) {
    if (config.tie_source_target && !config.tie_output)
      more.push_back(Stored(stack + "embed_tokens.weight", model.parameters().all().front().value));
    if (config.norm == NormPlace::pre) more.push_back(Stored(stack + "embed_positions.weight", positions));
  }
  SaveParameters(model.parameters(), folder + "/model.safetensors", std::move(more), compute);
}

}  // namespace headlight
