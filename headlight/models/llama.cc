#include "headlight/models/llama.h"

#include <memory>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/gpt2_stack.h"
#include "headlight/models/files/token_ids.h"
#include "headlight/nn/transformer_layers.h"

namespace headlight {

LlamaLayer::LlamaLayer(const Scope& scope, const LlamaConfig& config, int layer)
    : attention_norm_(scope / "input_layernorm", config.model, config.norm_epsilon),
      attention_(scope / "self_attn",
                 {.model = config.model,
                  .heads = config.heads,
                  .key_heads = config.key_heads,
                  .head_dim = config.head_dim,
                  .dropout = config.attention_dropout,
                  .names = {.output = "o_proj"},
                  .biases = config.attention_biases},
                 AttentionKind::decoder_self, layer),
      feed_forward_norm_(scope / "post_attention_layernorm", config.model, config.norm_epsilon),
      feed_forward_(
          scope / "mlp",
          {.model = config.model, .ffn = config.ffn, .activation = config.activation, .biases = config.ffn_biases}) {}

Tensor LlamaLayer::operator()(Context& context, const Tensor& x, const Sequences& texts,
                              const ops::RotaryAngles& angles) const {
  const Tensor attended = PreNorm(context, x, attention_norm_, /*dropout=*/0, [&](Context&, const Tensor& input) {
    return attention_.Self(context, input, texts, /*causal=*/true, {}, &angles);
  });
  return PreNorm(context, attended, feed_forward_norm_, /*dropout=*/0, feed_forward_);
}

Llama::Llama(const LlamaConfig& config, DType dtype)
    : LanguageModel(dtype), config_(Checked(config)), rotary_(config.rotary.Of(config.HeadDim())) {
  limits_ = {config.vocabulary, config.positions, config.end_id, config.begin_id};
  const Scope root(parameters_), model = root / config.scope;
  tokens_.emplace(model / "embed_tokens", config.vocabulary, config.model, Initialisation::Normal(0.02),
                  /*scores=*/config.tie_output);
  for (int layer = 0; layer < config.layers; ++layer) layers_.emplace_back(model / "layers" / layer, config, layer);
  final_norm_.emplace(model / "norm", config.model, config.norm_epsilon);
  output_ = config.tie_output ? &tokens_->table()
                              : &root.DeclareMatrix({"lm_head.weight"}, {config.vocabulary, config.model});
  InitialiseAsGpt(parameters_, 2 * config.layers, {"o_proj", "down_proj"});
}

Tensor Llama::Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  const std::vector<std::int32_t> first_positions = BeginPass(context, texts, /*memory=*/nullptr, layers_.size());
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const std::int64_t end = texts[text].length + std::int64_t{first_positions.empty() ? 0 : first_positions[text]};
    Check(end <= config_.positions, "a text of {} tokens is longer than the model's {} positions", end,
          config_.positions);
  }
  Tensor hidden = (*tokens_)(context, ids);
  const ops::RotaryAngles angles = rotary_.Angles(texts, first_positions, hidden.dtype());
  for (const LlamaLayer& layer : layers_) hidden = layer(context, hidden, texts, angles);
  return (*final_norm_)(context, hidden);
}

void Describe(ConfigTable& table, LlamaConfig& config) {
  table.Note("model_type", "llama");
  table.Note("architectures", Json::Array{"LlamaForCausalLM"});
  table.Size("hidden_size", config.model, "the model dimension");
  table.Layers("num_hidden_layers", config.layers);
  table.Size("num_attention_heads", config.heads, "the number of heads");
  table.Default(config.key_heads, config.heads);
  std::int32_t key_heads = config.KeyHeads();
  table.Size("num_key_value_heads", key_heads, "the number of key heads");
  config.key_heads = key_heads;
  table.Rule(config.heads % std::max(1, key_heads) == 0,
             "the number of key heads must divide that of heads: {} does not divide {}", key_heads, config.heads);
  table.Rule(config.head_dim > 0 || config.model % std::max(1, config.heads) == 0,
             "the number of heads must divide the model dimension: {} does not divide {}", config.heads, config.model);
  table.Default(config.head_dim, config.model / std::max(1, config.heads));
  std::int64_t head_dim = config.HeadDim();
  table.Size("head_dim", head_dim, "a head's dimension");
  config.head_dim = head_dim;
  table.Rule(head_dim % 2 == 0, "rotary positions turn pairs: the {} numbers of a head are odd", head_dim);
  table.Rule(config.heads * head_dim <= kLargestSize, "the heads' dimensions together must be at most {}, not {}",
             kLargestSize, config.heads * head_dim);
  table.Size("intermediate_size", config.ffn, "the ffn dimension");
  table.Choice("hidden_act", config.activation, kGateNames);
  table.Flag("attention_bias", config.attention_biases);
  table.Flag("mlp_bias", config.ffn_biases);
  table.Probability("attention_dropout", config.attention_dropout);
  table.Epsilon("rms_norm_eps", config.norm_epsilon);
  DescribeRotary(table, config.rotary);
  table.Size("vocab_size", config.vocabulary, "the vocabulary's size");
  table.Size("max_position_embeddings", config.positions, "the number of positions");
  if (table.reads()) {
    config.begin_id = ReadTokenId(table.json(), "bos_token_id", config.begin_id, config.vocabulary);
    config.end_id = ReadTokenId(table.json(), "eos_token_id", config.end_id, config.vocabulary);
  }
  table.Note("bos_token_id", WriteTokenId(config.begin_id));
  table.Note("eos_token_id", WriteTokenId(config.end_id));
  table.Flag("tie_word_embeddings", config.tie_output);
  table.Harmless({"pretraining_tp"});  // how another program divides its products
}

namespace {

std::unique_ptr<Llama> LoadLlama(const ModelFolder& files, const LoadModelOptions& options) {
  LlamaConfig config;
  ReadConfig(files.config, config, options.dropout);
  config.scope = ScopeIn(files.weights, config.scope);
  const std::string scope = Prefix(config.scope);
  auto model = std::make_unique<Llama>(config);
  // The angles' frequencies, which the base says.
  std::vector<std::string> unused = {scope + "rotary_emb.inv_freq"};
  for (int layer = 0; layer < config.layers; ++layer)
    unused.push_back(fmt::format("{}layers.{}.self_attn.rotary_emb.inv_freq", scope, layer));
  std::vector<std::pair<std::string, std::string>> tied;
  if (config.tie_output) tied = {{"lm_head.weight", scope + "embed_tokens.weight"}};
  LoadWeights(files, options, model->parameters(), {.tied = std::move(tied), .unused = std::move(unused)});
  return model;
}

std::unique_ptr<LanguageModel> NewLlama(const LanguageModelSizes& sizes) {
  return std::make_unique<Llama>(LlamaConfig{.model = sizes.model,
                                             .layers = sizes.layers,
                                             .heads = sizes.heads,
                                             .key_heads = sizes.key_heads,
                                             .ffn = sizes.ffn,
                                             .attention_dropout = sizes.attention_dropout,
                                             .vocabulary = sizes.vocabulary,
                                             .positions = sizes.positions,
                                             .begin_id = sizes.begin_id,
                                             .end_id = sizes.end_id,
                                             .tie_output = true});
}

}  // namespace

namespace families {
// The gate's matrix makes three of two: "a dimension of 2/3 4d instead of 4d" (LLaMA, section 2.2).
extern const Family llama = MakeFamily<Llama, LoadLlama>({"llama"}, {{.name = "llama",
                                                                      .make = NewLlama,
                                                                      .dropout = false,
                                                                      .grouped_keys = true,
                                                                      .ffn_of_model = 8.0 / 3,
                                                                      .ffn_step = 32}});
}  // namespace families

void Llama::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
