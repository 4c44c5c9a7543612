#include "headlight/models/gpt.h"

#include <memory>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/gpt2_stack.h"
#include "headlight/models/files/token_ids.h"

namespace headlight {
namespace {

// The keys of config.json and names of tensors that differ between the layouts.
struct LayoutNames {
  const char *model_type, *architecture;
  const char *model, *layers, *heads, *ffn, *activation, *dropout, *embedding_dropout, *attention_dropout, *positions;
  const char *token_table, *position_table, *attention;
};

constexpr LayoutNames kLayouts[] = {
    {"openai-gpt", "OpenAIGPTLMHeadModel", "n_embd", "n_layer", "n_head", "", "afn", "resid_pdrop", "embd_pdrop",
     "attn_pdrop", "n_positions", "tokens_embed", "positions_embed", "attn"},
    {"gpt2", "GPT2LMHeadModel", "n_embd", "n_layer", "n_head", "n_inner", "activation_function", "resid_pdrop",
     "embd_pdrop", "attn_pdrop", "n_positions", "wte", "wpe", "attn"},
    {"gpt_neo", "GPTNeoForCausalLM", "hidden_size", "num_layers", "num_heads", "intermediate_size",
     "activation_function", "resid_dropout", "embed_dropout", "attention_dropout", "max_position_embeddings", "wte",
     "wpe", "attn.attention"}};

const LayoutNames& NamesOf(const GptConfig& config) { return kLayouts[static_cast<int>(config.layout)]; }

MultiHeadAttentionConfig AttentionOf(const GptConfig& config, int layer) {
  if (config.layout != GptLayout::gpt_neo) return Gpt2AttentionOf(config, layer);
  MultiHeadAttentionConfig attention{.model = config.model, .heads = config.heads, .dropout = config.attention_dropout};
  attention.biases = false;
  attention.output_bias = true;
  attention.scale = 1;
  // GPT-3 has "alternating dense and locally banded sparse attention patterns in the layers of the transformer"
  // (section 2.1). Here, banded layers have a window.
  attention.window = config.IsBanded(layer) ? config.window : 0;
  return attention;
}

MultiHeadAttentionConfig CrossAttentionOf(const GptConfig& config, int layer) {
  MultiHeadAttentionConfig attention = Gpt2AttentionOf(config, layer);
  attention.names = {.query = "q_attn", .output = "c_proj", .key_value = "c_attn"};
  return attention;
}

}  // namespace

GptLayer::GptLayer(const Scope& scope, const GptConfig& config, int layer)
    : post_norm_(config.layout == GptLayout::gpt),
      dropout_(config.dropout),
      attention_norm_(scope / "ln_1", config.model, config.norm_epsilon),
      attention_(scope / NamesOf(config).attention, AttentionOf(config, layer), AttentionKind::decoder_self, layer),
      feed_forward_norm_(scope / "ln_2", config.model, config.norm_epsilon),
      feed_forward_(scope / "mlp", config.model, config.ffn, config.activation, {"c_fc", "c_proj"},
                    /*stored_transposed=*/config.layout != GptLayout::gpt_neo) {
  if (!config.cross_attention) return;
  cross_attention_norm_.emplace(scope / "ln_cross_attn", config.model, config.norm_epsilon);
  cross_attention_.emplace(scope / "crossattention", CrossAttentionOf(config, layer), AttentionKind::cross, layer);
}

// Computes the transformer_block of GPT (eq. 2) or GPT-2, in which "layer normalization was moved to the input of each
// sub-block" (2.3).
Tensor GptLayer::operator()(Context& context, const Tensor& x, const Sequences& texts, const Memory* memory) const {
  const auto attention = [&](Context&, const Tensor& input) {
    return attention_.Self(context, input, texts, /*causal=*/true);
  };
  if (post_norm_) {
    const Tensor attended = PostNorm(context, x, attention_norm_, dropout_, attention);
    return PostNorm(context, attended, feed_forward_norm_, dropout_, feed_forward_);
  }
  Tensor attended = PreNorm(context, x, attention_norm_, dropout_, attention);
  if (cross_attention_)
    attended = PreNorm(context, attended, *cross_attention_norm_, dropout_, [&](Context&, const Tensor& input) {
      return CrossAttention(context, *cross_attention_, input, texts, *memory);
    });
  return PreNorm(context, attended, feed_forward_norm_, dropout_, feed_forward_);
}

GptStack::GptStack(const Scope& scope, const GptConfig& config) {
  const LayoutNames& names = NamesOf(config);
  const Initialization normal = Initialization::Normal(0.02);  // GPT, section 4.1
  tokens_.emplace(scope / names.token_table, config.vocabulary, config.model, normal, /*scores=*/config.tie_output);
  embedding_.emplace(
      *tokens_, 1.0,
      PositionalEncoding::Learned(scope / names.position_table, config.positions, config.model, /*first=*/0, 0.02),
      config.embedding_dropout);
  for (int layer = 0; layer < config.layers; ++layer) layers_.emplace_back(scope / "h" / layer, config, layer);
  if (config.layout != GptLayout::gpt) final_norm_.emplace(scope / "ln_f", config.model, config.norm_epsilon);
}

// Computes h_0 = U W_e + W_p and h_l = transformer_block(h_(l-1)) (GPT, eq. 2). In GPT-2, "an additional layer
// normalization was added after the final self-attention block" (2.3). The caller computes the softmax over h_n W_e^T.
Tensor GptStack::operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                            const Memory* memory) const {
  const std::vector<std::int32_t> first_positions = BeginPass(context, texts, memory, layers_.size());
  Tensor hidden = (*embedding_)(context, ids, texts, first_positions);
  for (const GptLayer& layer : layers_) hidden = layer(context, hidden, texts, memory);
  return final_norm_ ? (*final_norm_)(context, hidden) : hidden;
}

Gpt::Gpt(const GptConfig& config, DType dtype)
    : LanguageModel(dtype), config_(Checked(config)), stack_(Scope(parameters_) / config.scope, config) {
  Check(!config.cross_attention, "a language model has no cross-attention: cross_attention must be false");
  limits_ = {config.vocabulary, config.positions, config.end_id};
  const Scope root(parameters_);
  output_ = config.tie_output ? &stack_.table() : &root.DeclareMatrix({"lm_head.weight"}, stack_.table().shape);
  InitializeAsGpt(parameters_, config.layout == GptLayout::gpt ? 1 : 2 * config.layers, kGptOutputs);
}

namespace {

// Reads attention_types, for example [[["global", "local"], 6]]. An entry is a pattern of layers and its number of
// repetitions. Returns, for each layer, true if it is local.
std::vector<bool> ReadBanded(const JsonView& json, int layers) {
  std::vector<bool> banded;
  for (const JsonView& group : json.Items()) {
    const std::vector<JsonView> pattern_and_times = group.Items();
    Check(pattern_and_times.size() == 2, "{}: must be a list of kinds and a number of repetitions", group.location());
    const std::int64_t times = pattern_and_times[1].Integer(0, layers);
    for (std::int64_t i = 0; i < times; ++i)
      for (const JsonView& kind : pattern_and_times[0].Items())
        banded.push_back(kind.String({"global", "local"}) == "local");
  }
  Check(banded.size() == static_cast<std::size_t>(layers), "{}: it has {} layers, and num_layers is {}",
        json.location(), banded.size(), layers);
  return banded;
}

void DescribeNeoAttention(ConfigTable& table, GptConfig& config) {
  if (table.reads())
    config.banded = ReadBanded(
        table.json().Get("attention_types", Json::Array{Json(Json::Array{Json(Json::Array{"global", "local"}), 12})}),
        config.layers);
  table.Rule(!config.banded.empty(), "attention_types must have at least one layer");
  if (table.writes()) {
    Json::Array kinds;
    for (int layer = 0; layer < config.layers; ++layer) kinds.push_back(config.IsBanded(layer) ? "local" : "global");
    table.Note("attention_types", Json::Array{Json(Json::Array{kinds, 1})});
    table.Note("attention_layers", kinds);
  }
  table.Harmless({"attention_layers"});  // the same setting with one entry per layer
  table.Size("window_size", config.window, "the window of banded attention");
}

}  // namespace

void Describe(ConfigTable& table, GptConfig& config) {
  table.Choice("model_type", config.layout,
               {{"openai-gpt", GptLayout::gpt}, {"gpt2", GptLayout::gpt2}, {"gpt_neo", GptLayout::gpt_neo}});
  const LayoutNames& names = NamesOf(config);
  if (table.reads() && config.layout == GptLayout::gpt) {
    config.vocabulary = 40478;
    config.positions = 512;
    config.end_id = -1;
  } else if (table.reads() && config.layout == GptLayout::gpt_neo) {
    config.model = config.positions = 2048;
    config.layers = 24;
    config.heads = 16;
    config.dropout = config.embedding_dropout = config.attention_dropout = 0;
  }
  table.Note("architectures", Json::Array{names.architecture});
  table.Size(names.model, config.model, "the model dimension");
  table.Layers(names.layers, config.layers);
  table.Heads(names.heads, config.heads, config.model);
  table.Default(config.ffn, 4 * config.model);
  if (config.layout == GptLayout::gpt) {
    table.Rule(config.ffn == 4 * config.model, "the ffn dimension of the first GPT must be 4 * {}, not {}",
               config.model, config.ffn);
    table.Choice(names.activation, config.activation,  // in these files, gelu means the tanh approximation
                 {{"gelu", Activation::gelu_tanh},
                  {"relu", Activation::relu},
                  {"swish", Activation::silu},
                  {"silu", Activation::silu}});
  } else {
    table.Size(names.ffn, config.ffn, "the ffn dimension");
    table.Choice(names.activation, config.activation, kActivationNames);
  }
  if (config.layout == GptLayout::gpt_neo) DescribeNeoAttention(table, config);
  table.Probability(names.dropout, config.dropout);
  table.Probability(names.embedding_dropout, config.embedding_dropout);
  table.Probability(names.attention_dropout, config.attention_dropout);
  table.Epsilon("layer_norm_epsilon", config.norm_epsilon);
  table.Size("vocab_size", config.vocabulary, "the vocabulary's size");
  table.Size(names.positions, config.positions, "the number of positions");
  DescribeEndTokens(table, config);
  if (config.layout != GptLayout::gpt) table.Note("bos_token_id", WriteTokenId(config.end_id));
  if (config.layout == GptLayout::gpt2) {
    table.Flag("scale_attn_weights", config.scale_attention);
    table.Flag("scale_attn_by_inverse_layer_idx", config.scale_attention_by_layer);
    if (!table.writes() || config.cross_attention) table.Flag("add_cross_attention", config.cross_attention);
    table.Only("cross_attention_hidden_size", Json(), "a memory of another width");
    table.Harmless({"is_decoder"});
  }
  table.Flag("tie_word_embeddings", config.tie_output);
  // These keys are settings of a multiple-choice head, and of attention in a precision below float32.
  table.Harmless({"classifier_dropout", "n_ctx", "n_special", "predict_special_tokens", "reorder_and_upcast_attn",
                  "summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type",
                  "summary_use_proj"});
}

namespace {

std::unique_ptr<Gpt> LoadGpt(const ModelFolder& files, const LoadModelOptions& options) {
  GptConfig config;
  ReadConfig(files.config, config, options.dropout);
  const std::string table = NamesOf(config).token_table + std::string(".weight");
  config.scope = ScopeIn(files.weights, config.scope);
  const std::string scope = Prefix(config.scope);
  Check(!config.cross_attention, "{}: a GPT-2 with cross-attention is only supported in an encoder-decoder",
        files.config["add_cross_attention"].location());
  auto model = std::make_unique<Gpt>(config);
  // Checkpoints may also contain the tied table under this name.
  LoadWeights(files, options, model->parameters(),
              {.tied = {{"lm_head.weight", scope + table}}, .unused = GptMasks(config, scope)});
  return model;
}

std::unique_ptr<LanguageModel> NewGpt2(const LanguageModelSizes& sizes) {
  return std::make_unique<Gpt>(GptConfig{.model = sizes.model,
                                         .layers = sizes.layers,
                                         .heads = sizes.heads,
                                         .ffn = sizes.ffn,
                                         .dropout = sizes.dropout,
                                         .embedding_dropout = sizes.dropout,
                                         .attention_dropout = sizes.attention_dropout,
                                         .vocabulary = sizes.vocabulary,
                                         .positions = sizes.positions,
                                         .end_id = sizes.end_id});
}

}  // namespace

std::vector<std::string> GptMasks(const GptConfig& config, const std::string& prefix) {
  std::vector<const char*> attentions = {NamesOf(config).attention};
  if (config.cross_attention) attentions.push_back("crossattention");
  std::vector<std::string> masks;
  for (int layer = 0; layer < config.layers; ++layer)
    for (const char* attention : attentions)
      for (const char* mask : {"bias", "masked_bias"})
        masks.push_back(fmt::format("{}h.{}.{}.{}", prefix, layer, attention, mask));
  return masks;
}

namespace families {
extern const Family gpt =
    MakeFamily<Gpt, LoadGpt>({"openai-gpt", "gpt2", "gpt_neo"}, {{.name = "gpt2", .make = NewGpt2}});
}  // namespace families

void Gpt::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
