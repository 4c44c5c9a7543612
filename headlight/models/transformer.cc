#include "headlight/models/transformer.h"

#include <cmath>

#include "headlight/base/error.h"
#include "headlight/io/json_view.h"
#include "headlight/nn/stored_parameters.h"

namespace headlight {
namespace {

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
  probability("dropout", config.dropout);
  probability("attention dropout", config.attention_dropout);
  Check(!config.tie_source_target || config.source_vocabulary == config.target_vocabulary,
        "one table for source and target needs one vocabulary, not {} and {} words", config.source_vocabulary,
        config.target_vocabulary);
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
    return scope.Declare("weight", {words, config.model}, normal);
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

}  // namespace headlight
