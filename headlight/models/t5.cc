#include "headlight/models/t5.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/view.h"

namespace headlight {

namespace {

MultiHeadAttentionConfig AttentionOf(const T5Config& config) {
  return {.model = config.model,
          .heads = config.heads,
          .head_dim = config.head_dim,
          .dropout = config.dropout,
          .names = {"q", "k", "v", "o"},
          .biases = false,
          .scale = 1};  // the initial weights include the factor 1 / sqrt(head_dim)
}

std::variant<FeedForward, GatedFeedForward> NetworkOf(const Scope& scope, const T5Config& config) {
  if (!config.gated)
    return FeedForward(scope, config.model, config.ffn, config.activation, {"wi", "wo"}, /*stored_transposed=*/false,
                       /*biases=*/false);
  return GatedFeedForward(scope, {.model = config.model,
                                  .ffn = config.ffn,
                                  .activation = config.activation,
                                  .inner = {"wi_0", "wi_1"},
                                  .outer = "wo"});
}

}  // namespace

T5FeedForward::T5FeedForward(const Scope& scope, const T5Config& config)
    : dropout_(config.dropout), network_(NetworkOf(scope, config)) {}

Tensor T5FeedForward::operator()(Context& context, const Tensor& x) const {
  return std::visit(
      [&](const auto& network) {
        return network.Outer(context, ops::Drop(network.Inner(context, x), context.NextDropout(dropout_)));
      },
      network_);
}

T5Layer::T5Layer(const Scope& scope, const T5Config& config, int layer, bool decoder)
    : dropout_(config.dropout),
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

Tensor T5Layer::operator()(Context& context, const Tensor& x, const Sequences& sequences,
                           const ops::AttentionBias& positions, const Memory* memory) const {
  Tensor hidden = PreNorm(context, x, self_attention_norm_, dropout_, [&](Context&, const Tensor& input) {
    return self_attention_.Self(context, input, sequences, /*causal=*/decoder_, positions);
  });
  if (decoder_)
    hidden = PreNorm(context, hidden, *cross_attention_norm_, dropout_, [&](Context&, const Tensor& input) {
      return CrossAttention(context, *cross_attention_, input, sequences, *memory);
    });
  return PreNorm(context, hidden, feed_forward_norm_, dropout_, feed_forward_);
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

Tensor T5Stack::operator()(Context& context, const Tensor& embedded, const Sequences& sequences,
                           const Memory* memory) const {
  if (memory != nullptr) BeginPass(context, sequences, memory, layers_.size());
  const ops::AttentionBias positions = positions_(context);
  Tensor hidden = ops::Drop(embedded, context.NextDropout(dropout_));
  for (const T5Layer& layer : layers_) hidden = layer(context, hidden, sequences, positions, memory);
  return ops::Drop(final_norm_(context, hidden), context.NextDropout(dropout_));
}

T5::T5(const T5Config& config, DType dtype) : EncoderDecoder(dtype), config_(config) {
  CheckConfig(config);
  limits_ = {config.vocabulary, config.vocabulary, kLongest, config.start_id, config.end_id, config.pad_id};
  const Scope root(parameters_);
  tokens_.emplace(root / "shared", config.vocabulary, config.model, Initialization::Normal(1),
                  /*scores=*/config.tie_output);
  output_ = &tokens_->table();
  encoder_.emplace(root / "encoder", config, /*decoder=*/false);
  decoder_.emplace(root / "decoder", config, /*decoder=*/true);
  if (!config.tie_output) output_ = &root.DeclareMatrix({"lm_head.weight"}, {config.vocabulary, config.model});
  // T5 does not scale scores, so the initial weights are chosen such that scores have a standard deviation of 1. In
  // self-attention, one matrix contains the weights of queries and keys.
  for (Parameter& parameter : parameters_.all()) {
    const std::string& name = parameter.names.front();
    if (!name.ends_with("Attention.q.weight")) continue;
    const double share = name.ends_with("EncDecAttention.q.weight") ? -0.5 : -0.25;
    parameter.initialization = Initialization::Normal(std::pow(static_cast<double>(config.model), -0.5) *
                                                      std::pow(static_cast<double>(config.head_dim), share));
  }
}

Tensor T5::Encode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences) const {
  return (*encoder_)(context, (*tokens_)(context, ids), sequences, nullptr);
}

Tensor T5::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& sequences,
                  const Memory& memory) const {
  const Tensor hidden = (*decoder_)(context, (*tokens_)(context, ids), sequences, &memory);
  return config_.scale_output ? ops::Scale(hidden, 1 / std::sqrt(static_cast<double>(config_.model))) : hidden;
}

namespace {

// Describes feed_forward_proj, which is "relu" or "gated-" and an activation. "gated-gelu" means the tanh
// approximation. Newer files also have dense_act_fn and is_gated_act.
void DescribeFeedForward(ConfigTable& table, T5Config& config) {
  if (table.reads()) {
    const JsonView& json = table.json();
    const std::string whole = json.Get("feed_forward_proj", config.multilingual ? "gated-gelu" : "relu").String();
    config.gated = whole.starts_with("gated-");
    const std::string activation = whole == "gated-gelu" ? "gelu_new" : whole.substr(config.gated ? 6 : 0);
    if (!json["dense_act_fn"].present()) {
      const Json named = Json::Object{{"feed_forward_proj", activation}};
      ConfigTable(JsonView(named, json.location())).Choice("feed_forward_proj", config.activation, kActivationNames);
    }
    Check(json.Get("is_gated_act", config.gated).Bool() == config.gated, "{}: contradicts feed_forward_proj, {}",
          json["is_gated_act"].location(), Quoted(whole));
  }
  table.Choice("dense_act_fn", config.activation, kActivationNames);
  if (!table.writes()) return;
  std::string name(std::ranges::find(kActivationNames, config.activation, &ConfigName<Activation>::value)->name);
  if (config.gated) name = "gated-" + (name == "gelu_new" ? "gelu" : name);
  table.Note("feed_forward_proj", name);
}

}  // namespace

void Describe(ConfigTable& table, T5Config& config) {
  table.Choice("model_type", config.multilingual, {{"t5", false}, {"mt5", true}});
  if (table.reads() && config.multilingual) {  // mT5-small's values for missing keys
    config.encoder_layers = 8;
    config.heads = 6;
    config.ffn = 1024;
    config.vocabulary = 250112;
  }
  table.Note("architectures",
             Json::Array{config.multilingual ? "MT5ForConditionalGeneration" : "T5ForConditionalGeneration"});
  table.Note("is_encoder_decoder", true);
  table.Size("d_model", config.model, "the model dimension");
  table.Layers("num_layers", config.encoder_layers, "the number of encoder layers");
  table.Default(config.decoder_layers, config.encoder_layers);
  table.Layers("num_decoder_layers", config.decoder_layers, "the number of decoder layers");
  table.Size("num_heads", config.heads, "the number of heads");
  table.Size("d_kv", config.head_dim, "a head's dimension");
  table.Rule(config.heads * config.head_dim <= kLargestSize,
             "the heads' dimensions together must be at most {}, not {}", kLargestSize, config.heads * config.head_dim);
  table.Size("d_ff", config.ffn, "the ffn dimension");
  DescribeFeedForward(table, config);
  table.Size("relative_attention_num_buckets", config.buckets, "the number of buckets");
  table.Size("relative_attention_max_distance", config.max_distance, "the farthest distance");
  table.Rule(config.buckets >= 4 && config.max_distance > config.buckets / 2 && config.max_distance <= 1 << 16,
             "relative_attention_num_buckets must be at least 4, and relative_attention_max_distance more than half of "
             "it and at most {}, not {} and {}",
             1 << 16, config.buckets, config.max_distance);
  table.Probability("dropout_rate", config.dropout);
  table.Epsilon("layer_norm_epsilon", config.norm_epsilon);
  table.Size("vocab_size", config.vocabulary, "the vocabulary's size");
  table.Token("pad_token_id", config.pad_id, config.vocabulary);
  table.Default(config.start_id, config.pad_id);
  table.Token("decoder_start_token_id", config.start_id, config.vocabulary);
  table.Token("eos_token_id", config.end_id, config.vocabulary);
  table.Only("is_decoder", false, "a T5 that is only a decoder");
  // In published configurations of T5 1.1, tie_word_embeddings is false if states are not scaled. mT5 never scales
  // states. The weights determine whether there are two tables.
  bool tied = config.multilingual ? config.tie_output : config.scale_output;
  table.Flag("tie_word_embeddings", tied);
  if (table.reads())
    config.scale_output = !config.multilingual && table.json().Get("scale_decoder_outputs", tied).Bool();
  table.Harmless({"classifier_dropout", "initializer_factor", "n_positions"});
}

namespace {

std::unique_ptr<T5> LoadT5(const ModelFolder& files, const LoadModelOptions& options) {
  T5Config config;
  ReadConfig(files.config, config, options.dropout);
  const Safetensors& weights = files.weights;
  // A file may contain the shared table under any of these names.
  const std::string output = "lm_head.weight";
  std::string table = output;
  for (const char* name : {"decoder.embed_tokens.weight", "encoder.embed_tokens.weight", "shared.weight"})
    if (weights.contains(name)) table = name;
  config.tie_output =
      !weights.contains(output) || std::ranges::equal(weights.At(output).bytes, weights.At(table).bytes);
  auto model = std::make_unique<T5>(config);
  // The first checkpoints contain position tables of cross-attention, which T5 does not use.
  LoadWeights(files, options, model->parameters(),
              {.tied = {{"encoder.embed_tokens.weight", "shared.weight"},
                        {"decoder.embed_tokens.weight", "shared.weight"},
                        {"lm_head.weight", "shared.weight"}},
               .unused = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"}});
  return model;
}

}  // namespace

namespace families {
extern const Family t5 = MakeFamily<T5, LoadT5>({"t5", "mt5"});
}  // namespace families

Json::Object T5::LayerSizes() const {
  return {{"encoder_layers", config_.encoder_layers},
          {"decoder_layers", config_.decoder_layers},
          {"model", config_.model},
          {"attention_heads", config_.heads},
          {"head_dim", config_.head_dim},
          {"ffn", config_.ffn}};
}

void T5::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
