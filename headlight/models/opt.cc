// OPT (Zhang et al., "OPT: Open Pre-trained Transformer Language Models", 2022), which has GPT-2's layers with ReLU.
// The model with 350 million parameters has post-norm layers, and token embeddings that are narrower than the hidden
// states.
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/files/gpt2_stack.h"
#include "headlight/models/files/rotary_decoder.h"
#include "headlight/nn/transformer_layers.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

constexpr std::int32_t kFirstPosition = 2;  // the row of the first position in the table

// The defaults apply to missing keys. They are the sizes of OPT 125M.
struct OptConfig {
  std::int64_t model = 768;
  int layers = 12;
  std::int32_t heads = 12;
  std::int64_t ffn = 3072;
  std::int64_t embedding = 0;  // size of token embeddings; 0: equal to `model`
  Activation activation = Activation::relu;
  bool biases = true;
  bool pre_norm = true;
  bool final_norm = true;  // only used in models with pre-norm layers
  double dropout = 0.1, attention_dropout = 0;
  std::int64_t vocabulary = 50272;
  std::int64_t positions = 2048;
  std::int32_t begin_id = 2, end_id = 2, pad_id = 1;
  std::vector<std::int32_t> other_end_ids = {};
  bool tie_output = true;
  std::string scope = "model.decoder";

  std::int64_t Embedding() const { return embedding > 0 ? embedding : model; }
  bool FinalNorm() const { return pre_norm && final_norm; }
};

void Describe(ConfigTable& table, OptConfig& config) {
  table.Note("model_type", "opt");
  table.Note("architectures", Json::Array{"OPTForCausalLM"});
  table.Size("hidden_size", config.model, "the model dimension");
  table.Layers("num_hidden_layers", config.layers);
  table.Heads("num_attention_heads", config.heads, config.model);
  table.Size("ffn_dim", config.ffn, "the ffn dimension");
  table.Default(config.embedding, config.model);
  std::int64_t embedding = config.Embedding();
  table.Size("word_embed_proj_dim", embedding, "the dimension of the tokens' vectors");
  config.embedding = embedding;
  table.Choice("activation_function", config.activation, kActivationNames);
  table.Flag("enable_bias", config.biases);
  table.Flag("do_layer_norm_before", config.pre_norm);
  bool removed = !config.final_norm;
  table.Flag("_remove_final_layer_norm", removed);
  config.final_norm = !removed;
  table.Only("layer_norm_elementwise_affine", true, "norms without gains and biases");
  table.Probability("dropout", config.dropout);
  table.Probability("attention_dropout", config.attention_dropout);
  table.Harmless({"activation_dropout"});  // Transformers ignores this key
  table.Only("layerdrop", 0.0, "layers skipped in training (LayerDrop)");
  DescribeTokens(table, config);
}

class OptLayer {
 public:
  OptLayer(const Scope& scope, const OptConfig& config, int layer)
      : pre_norm_(config.pre_norm),
        dropout_(config.dropout),
        attention_(scope / "self_attn",
                   {.model = config.model,
                    .heads = config.heads,
                    .dropout = config.attention_dropout,
                    .biases = config.biases},
                   AttentionKind::decoder_self, layer),
        attention_norm_(scope / "self_attn_layer_norm", config.model),
        feed_forward_(scope, config.model, config.ffn, config.activation, {"fc1", "fc2"}, /*stored_transposed=*/false,
                      config.biases),
        feed_forward_norm_(scope / "final_layer_norm", config.model) {}

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts) const {
    const auto attention = [&](Context&, const Tensor& input) {
      return attention_.Self(context, input, texts, /*causal=*/true);
    };
    if (!pre_norm_) {
      const Tensor attended = PostNorm(context, x, attention_norm_, dropout_, attention);
      return PostNorm(context, attended, feed_forward_norm_, dropout_, feed_forward_);
    }
    const Tensor attended = PreNorm(context, x, attention_norm_, dropout_, attention);
    return PreNorm(context, attended, feed_forward_norm_, dropout_, feed_forward_);
  }

 private:
  bool pre_norm_;
  double dropout_;
  MultiHeadAttention attention_;
  LayerNorm attention_norm_;
  FeedForward feed_forward_;
  LayerNorm feed_forward_norm_;
};

class Opt : public LanguageModel {
 public:
  explicit Opt(const OptConfig& config) : LanguageModel(DType::float32), config_(Checked(config)) {
    limits_ = {config.vocabulary, config.positions, config.end_id, config.begin_id};
    const Scope root(parameters_), decoder = root / config.scope;
    tokens_.emplace(decoder / "embed_tokens", config.vocabulary, config.Embedding(), Initialization::Normal(0.02),
                    /*scores=*/config.tie_output);
    positions_.emplace(
        PositionalEncoding::Learned(decoder / "embed_positions", config.positions, config.model, kFirstPosition, 0.02));
    if (config.Embedding() != config.model) {
      project_in_.emplace(decoder, std::vector<std::string>{"project_in"}, config.Embedding(), config.model, false);
      project_out_.emplace(decoder, std::vector<std::string>{"project_out"}, config.model, config.Embedding(), false);
    }
    for (int layer = 0; layer < config.layers; ++layer) layers_.emplace_back(decoder / "layers" / layer, config, layer);
    if (config.FinalNorm()) final_norm_.emplace(decoder / "final_layer_norm", config.model);
    output_ = config.tie_output ? &tokens_->table()
                                : &root.DeclareMatrix({"lm_head.weight"}, {config.vocabulary, config.Embedding()});
    InitializeAsGpt(parameters_, 2 * config.layers, {"out_proj", "fc2"});
  }

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override {
    const std::vector<std::int32_t> first_positions = BeginPass(context, texts, /*memory=*/nullptr, layers_.size());
    CheckLengths(texts, first_positions, limits_.positions);
    Tensor hidden = (*tokens_)(context, ids);
    if (project_in_) hidden = (*project_in_)(context, hidden);
    std::vector<std::int32_t> rows(ids.size());
    for (std::size_t text = 0; text < texts.size(); ++text)
      for (std::int32_t token = 0; token < texts[text].length; ++token)
        rows[static_cast<std::size_t>(texts[text].row(token))] =
            kFirstPosition + token + (first_positions.empty() ? 0 : first_positions[text]);
    hidden = ops::Add(hidden, ops::Embedding(positions_->Table(context), rows));
    for (const OptLayer& layer : layers_) hidden = layer(context, hidden, texts);
    if (final_norm_) hidden = (*final_norm_)(context, hidden);
    return project_out_ ? (*project_out_)(context, hidden) : hidden;
  }

  void Save(const std::string& folder, Compute compute) const override {
    SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
  }

 protected:
  Json::Object LayerSizes() const override { return SizesOfStack(config_); }

 private:
  OptConfig config_;
  std::optional<TokenEmbedding> tokens_;
  std::optional<PositionalEncoding> positions_;
  std::optional<Linear> project_in_, project_out_;
  std::deque<OptLayer> layers_;
  std::optional<LayerNorm> final_norm_;
};

std::unique_ptr<Opt> LoadOpt(const ModelFolder& files, const LoadModelOptions& options) {
  OptConfig config;
  ReadConfig(files.config, config, options.dropout);
  if (ScopeIn(files.weights, config.scope).empty()) config.scope = ScopeIn(files.weights, "decoder");
  auto model = std::make_unique<Opt>(config);
  OtherTensors others;
  if (config.tie_output) others.tied = {{"lm_head.weight", Prefix(config.scope) + "embed_tokens.weight"}};
  LoadWeights(files, options, model->parameters(), others);
  return model;
}

std::unique_ptr<LanguageModel> NewOpt(const LanguageModelSizes& sizes) {
  return std::make_unique<Opt>(OptConfig{.model = sizes.model,
                                         .layers = sizes.layers,
                                         .heads = sizes.heads,
                                         .ffn = sizes.ffn,
                                         .dropout = sizes.dropout,
                                         .attention_dropout = sizes.attention_dropout,
                                         .vocabulary = sizes.vocabulary,
                                         .positions = sizes.positions,
                                         .begin_id = sizes.begin_id,
                                         .end_id = sizes.end_id,
                                         .pad_id = -1});
}

}  // namespace

namespace families {
extern const Family opt = MakeFamily<Opt, LoadOpt>({"opt"}, {{.name = "opt", .make = NewOpt}});
}  // namespace families

}  // namespace headlight
