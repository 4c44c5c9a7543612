#include "headlight/models/bart.h"

#include <cmath>
#include <utility>

#include "headlight/models/family.h"
#include "headlight/models/files/stacks.h"

namespace headlight {
namespace {

// Number of unused rows before the first position in the position table.
constexpr std::int32_t kFirstPosition = 2;

}  // namespace

Bart::Bart(const BartConfig& config, DType dtype) : EncoderDecoder(dtype), config_(config) {
  CheckConfig(config);
  limits_ = {config.vocabulary, config.vocabulary, config.positions, config.start_id, config.end_id, config.pad_id};
  const Scope root(parameters_), model = root / config.scope;
  const TokenEmbedding tokens(model / "shared", config.vocabulary, config.model, Initialization::Normal(0.02),
                              /*scores=*/true);
  output_ = &tokens.table();
  if (!config.scope.empty()) {
    Parameter& bias = root.Declare("final_logits_bias", {1, config.vocabulary}, Initialization::Constant(0));
    bias.role.trained = false;
    output_bias_ = &bias;
  }

  // In both layouts, a LayerNorm follows the embeddings.
  const auto embedding = [&](const Scope& stack) {
    return Embedding(
        tokens, config.scale_embeddings ? std::sqrt(static_cast<double>(config.model)) : 1,
        PositionalEncoding::Learned(stack / "embed_positions", config.positions, config.model, kFirstPosition),
        config.dropout, LayerNorm(stack / "layernorm_embedding", config.model));
  };
  const Scope encoder = model / "encoder", decoder = model / "decoder";
  encoder_.emplace(encoder, LayerOf(config, config.encoder_heads, config.encoder_ffn), config.encoder_layers,
                   embedding(encoder));
  decoder_.emplace(decoder, LayerOf(config, config.decoder_heads, config.decoder_ffn), config.decoder_layers,
                   embedding(decoder));
}

Tensor Bart::Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences) const {
  return (*encoder_)(context, ids, sequences);
}

Tensor Bart::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                    const Memory& memory) const {
  return (*decoder_)(context, ids, sequences, &memory);
}

void Describe(ConfigTable& table, BartConfig& config) {
  table.Choice("model_type", config.norm, {{"bart", NormPosition::post}, {"mbart", NormPosition::pre}});
  const bool pre = config.norm == NormPosition::pre;
  table.Note("architectures", Json::Array{std::string(pre ? "MBart" : "Bart") +
                                          (config.scope.empty() ? "Model" : "ForConditionalGeneration")});
  DescribeStacks(table, config);
  table.Flag("scale_embedding", config.scale_embeddings);
  table.Size("vocab_size", config.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", config.positions, "the number of positions");
  table.Token("pad_token_id", config.pad_id, config.vocabulary);
  table.Token("eos_token_id", config.end_id, config.vocabulary);
  table.Default(config.start_id, config.end_id);
  table.Token("decoder_start_token_id", config.start_id, config.vocabulary);
  table.Note("forced_eos_token_id", config.end_id);
  // Early checkpoints have these settings. Only these values are supported.
  for (const char* key : {"tie_word_embeddings", "normalize_embedding"}) table.Only(key, true);
  for (const char* key : {"normalize_before", "add_final_layer_norm"}) table.Only(key, pre);
  for (const char* key : {"add_bias_logits", "static_position_embeddings", "is_decoder"}) table.Only(key, false);
  table.Only("extra_pos_embeddings", kFirstPosition);
  table.Harmless({"activation_dropout", "classif_dropout", "classifier_dropout", "decoder_layerdrop",
                  "encoder_layerdrop", "force_bos_token_to_be_generated", "num_hidden_layers"});
}

namespace {

std::unique_ptr<Bart> LoadBart(const ModelFolder& files, const LoadModelOptions& options) {
  BartConfig config;
  ReadConfig(files.config, config, options.dropout);
  config.scope = ScopeIn(files.weights, config.scope);
  auto model = std::make_unique<Bart>(config);
  const std::string scope = Prefix(config.scope), table = scope + "shared.weight";
  LoadWeights(files, options, model->parameters(),
              {.tied = {{scope + "encoder.embed_tokens.weight", table},
                        {scope + "decoder.embed_tokens.weight", table},
                        {"lm_head.weight", table}},
               .zeros = {"final_logits_bias"}});
  return model;
}

}  // namespace

namespace families {
extern const Family bart = MakeFamily<Bart, LoadBart>({"bart", "mbart"});
}  // namespace families

void Bart::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
