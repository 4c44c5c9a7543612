#include "headlight/models/transformer.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stacks.h"

namespace headlight {

// Describes config.json in the format of Transformers' MarianConfig and PegasusConfig.
void Describe(ConfigTable& table, TransformerConfig& config) {
  table.Choice("model_type", config.norm, {{"marian", NormPosition::post}, {"pegasus", NormPosition::pre}});
  const bool post = config.norm == NormPosition::post;
  table.Require({"d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads",
                 "encoder_ffn_dim", "decoder_ffn_dim", "vocab_size"});
  table.Note("architectures", Json::Array{post ? "MarianMTModel" : "PegasusForConditionalGeneration"});
  table.Rule(config.model % 2 == 0, "the model dimension must be even, for pairs of sine and cosine, not {}",
             config.model);
  DescribeStacks(table, config);
  table.Note("activation_dropout", 0.0);
  table.Default(config.scale_embeddings, false);
  table.Flag("scale_embedding", config.scale_embeddings);
  table.Flag("tie_word_embeddings", config.tie_output);
  table.Size("vocab_size", config.source_vocabulary, "the source vocabulary's size");
  table.Default(config.target_vocabulary, config.source_vocabulary);
  if (post || table.reads()) {
    table.Flag("share_encoder_decoder_embeddings", config.tie_source_target);
    table.Size("decoder_vocab_size", config.target_vocabulary, "the target vocabulary's size");
  }
  table.Rule(!config.tie_source_target || config.source_vocabulary == config.target_vocabulary,
             "one table for source and target needs one vocabulary, not {} and {} words", config.source_vocabulary,
             config.target_vocabulary);
  table.Rule(post || config.tie_source_target, "a pre-norm model has one table for source and target, as Pegasus has");
  table.Default(config.positions, 1024);
  table.Size("max_position_embeddings", config.positions, "the number of positions");
  table.Rule(config.positions <= (1 << 26) / std::max<std::int64_t>(1, config.model),
             "{} positions of {} numbers are too many", config.positions, config.model);
  table.Token("pad_token_id", config.pad_id, config.target_vocabulary);
  table.Default(config.start_id, config.pad_id);
  table.Token("decoder_start_token_id", config.start_id, config.target_vocabulary);
  table.Token("eos_token_id", config.end_id, config.target_vocabulary);
  table.Note("forced_eos_token_id", config.end_id);
  table.Harmless({"add_bias_logits", "add_final_layer_norm", "classif_dropout", "classifier_dropout",
                  "encoder_layerdrop", "decoder_layerdrop", "extra_pos_embeddings", "force_bos_token_to_be_generated",
                  "is_decoder", "normalize_before", "normalize_embedding", "num_hidden_layers",
                  "static_position_embeddings"});
}

Transformer::Transformer(const TransformerConfig& config, DType dtype) : EncoderDecoder(dtype), config_(config) {
  CheckConfig(config);
  limits_ = {config.source_vocabulary,
             config.target_vocabulary,
             config.positions,
             config.start_id,
             config.end_id,
             config.pad_id};

  // Embeddings are initialized with a standard deviation of model^-0.5. After multiplication by model^0.5, they have a
  // standard deviation of 1, like normalized states.
  const Scope root(parameters_), model = root / "model";
  const Initialization normal = Initialization::Normal(1 / std::sqrt(static_cast<double>(config.model)));
  const auto table = [&](const Scope& scope, std::int64_t words, bool scores) {
    return TokenEmbedding(scope, words, config.model, normal, scores);
  };
  const bool tied = config.tie_source_target;
  const TokenEmbedding source = table(tied ? model / "shared" : model / "encoder" / "embed_tokens",
                                      config.source_vocabulary, tied && config.tie_output);
  const TokenEmbedding target =
      tied ? source : table(model / "decoder" / "embed_tokens", config.target_vocabulary, config.tie_output);
  output_ = &target.table();
  if (!config.tie_output) {
    Parameter& output = root.DeclareMatrix({"lm_head.weight"}, {config.target_vocabulary, config.model});
    output.initialization = normal;
    output_ = &output;
  }
  Parameter& bias = root.Declare("final_logits_bias", {1, config.target_vocabulary}, Initialization::Constant(0));
  bias.role.trained = false;
  output_bias_ = &bias;

  const PositionalEncoding positions = PositionalEncoding::Sinusoidal(config.positions, config.model, dtype);
  const double scale = config.scale_embeddings ? std::sqrt(static_cast<double>(config.model)) : 1;
  encoder_.emplace(model / "encoder", LayerOf(config, config.encoder_heads, config.encoder_ffn), config.encoder_layers,
                   Embedding(source, scale, positions, config.dropout));
  decoder_.emplace(model / "decoder", LayerOf(config, config.decoder_heads, config.decoder_ffn), config.decoder_layers,
                   Embedding(target, scale, positions, config.dropout));
}

Tensor Transformer::Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences) const {
  return (*encoder_)(context, ids, sequences);
}

Tensor Transformer::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                           const Memory& memory) const {
  return (*decoder_)(context, ids, sequences, &memory);
}

Json::Object Transformer::Description() const {
  return WithLayerSizes(
      {{"positions", limits_.positions}, {"norm", config_.norm == NormPosition::post ? "post" : "pre"}});
}

namespace {

Tensor Positions(const TransformerConfig& config) {
  Context context;
  return PositionalEncoding::Sinusoidal(config.positions, config.model).Table(context);
}

// Throws Error if the file contains positional embeddings that differ from the model's sinusoids.
void CheckPositions(const Safetensors& file, const std::string& name, const TransformerConfig& config) {
  if (!file.contains(name)) return;
  const Tensor stored = file.Read(name), computed = Positions(config);
  constexpr float rounding = 1e-2F;  // tolerance for 16-bit files
  Check(stored.shape() == computed.shape() &&
            std::ranges::equal(stored.span<float>(), computed.span<float>(),
                               [](float a, float b) { return std::abs(a - b) <= rounding; }),
        "{}: tensor {} differs from this model's sinusoidal positions", file.path(), name);
}

std::unique_ptr<Transformer> LoadTransformer(const ModelFolder& files, const LoadModelOptions& options) {
  TransformerConfig config;
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Transformer>(config);
  const std::string encoder = "model.encoder.embed_", decoder = "model.decoder.embed_", shared = "model.shared.weight";
  LoadWeights(files, options, model->parameters(),
              {.tied = {{encoder + "tokens.weight", shared},
                        {decoder + "tokens.weight", shared},
                        {"lm_head.weight", config.tie_source_target ? shared : decoder + "tokens.weight"}},
               .unused = {encoder + "positions.weight", decoder + "positions.weight"},
               .zeros = {"final_logits_bias"}});
  for (const std::string& stack : {encoder, decoder}) CheckPositions(files.weights, stack + "positions.weight", config);
  return model;
}

}  // namespace

namespace families {
extern const Family transformer = MakeFamily<Transformer, LoadTransformer>({"marian", "pegasus"});
}  // namespace families

void Transformer::Save(const std::string& folder, Compute compute) const {
  const Json generation = Json::Object{{"pad_token_id", config_.pad_id},
                                       {"decoder_start_token_id", config_.start_id},
                                       {"eos_token_id", config_.end_id},
                                       {"forced_eos_token_id", config_.end_id},
                                       {"bad_words_ids", Json::Array{Json(Json::Array{config_.pad_id})}},
                                       {"max_length", config_.positions},
                                       {"num_beams", 4}};
  WriteFile(folder + "/generation_config.json", generation.Text());
  // If the output is not tied, Transformers ties no tables. Each table is therefore written. Pegasus requires the
  // sinusoids in the file.
  const Tensor positions = Positions(config_);
  std::vector<StoredTensor> more;
  for (const std::string stack : {"model.encoder.", "model.decoder."}) {
    if (config_.tie_source_target && !config_.tie_output)
      more.push_back(Stored(stack + "embed_tokens.weight", parameters_.all().front().value));
    if (config_.norm == NormPosition::pre) more.push_back(Stored(stack + "embed_positions.weight", positions));
  }
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute, std::move(more));
}

}  // namespace headlight
