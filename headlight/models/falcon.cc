// Falcon (Almazrouei et al., "The Falcon Series of Open Language Models", 2023, section 4.3). Sublayers are parallel
// and positions are rotary. Key and value heads are shared by all query heads (7B), or by the query heads of each group
// (40B). The first models, Falcon-RW, have sequential sublayers, linear biases (ALiBi) and one key head per query head.
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "headlight/models/files/rotary_decoder.h"
#include "headlight/nn/linear_biases.h"

namespace headlight {
namespace {

// The norms before the sublayers. in_turn: sequential sublayers, one norm each. shared: one norm for both parallel
// sublayers. parallel: parallel sublayers, one norm each.
enum class FalconNorms { in_turn, shared, parallel };

// The defaults apply to missing keys. They are the sizes of Falcon 7B.
struct FalconConfig {
  std::int64_t model = 4544;
  int layers = 32;
  std::int32_t heads = 71;
  std::int32_t key_heads = 1;
  std::int64_t ffn = 0;  // 4 * model by default
  Activation activation = Activation::gelu;
  bool biases = false;
  bool grouped = false;  // if true, files have `new_decoder_architecture`, which allows any number of key heads
  FalconNorms norms = FalconNorms::shared;
  bool linear_biases = false;  // if true, linear biases (ALiBi) replace rotary positions
  double dropout = 0, attention_dropout = 0;
  double norm_epsilon = 1e-5;
  RotarySettings rotary = {};
  std::int64_t vocabulary = 65024;
  std::int64_t positions = 2048;
  std::int32_t begin_id = 11, end_id = 11, pad_id = -1;
  std::vector<std::int32_t> other_end_ids = {};
  bool tie_output = true;
  DecoderNames names = {"transformer", "word_embeddings", "h", "ln_f", "lm_head"};

  std::int64_t HeadDim() const { return model / heads; }
};

// Describes the number of key heads and the norms in both file formats.
void DescribeFalconKind(ConfigTable& table, FalconConfig& config) {
  table.Flag("new_decoder_architecture", config.grouped);
  bool one_key_head = config.key_heads == 1, parallel = config.norms != FalconNorms::in_turn;
  table.Flag("multi_query", one_key_head);
  table.Flag("parallel_attn", parallel);
  const bool has_key_heads = config.grouped || (table.reads() && !one_key_head);
  if (table.reads()) config.key_heads = one_key_head && !config.grouped ? 1 : config.heads;
  if (has_key_heads)
    table.Size("num_kv_heads", config.key_heads, "the number of key heads");
  else
    table.Harmless({"num_kv_heads"});
  table.Rule(config.heads % std::max(1, config.key_heads) == 0,
             "the number of heads must be a multiple of the number of key heads: {} key heads, {} heads",
             config.key_heads, config.heads);
  table.Rule(config.grouped || config.key_heads == 1 || config.key_heads == config.heads,
             "num_kv_heads: without new_decoder_architecture there are 1 or {} key heads, not {}", config.heads,
             config.key_heads);
  std::int32_t norms = config.norms == FalconNorms::parallel || (table.reads() && config.grouped) ? 2 : 1;
  if (config.grouped)
    table.Integer("num_ln_in_parallel_attn", norms, "the number of norms of parallel sublayers", 1, 2);
  else
    table.Only("num_ln_in_parallel_attn", 1, "two norms of parallel sublayers without new_decoder_architecture");
  if (table.reads())
    config.norms = !parallel ? FalconNorms::in_turn : norms == 2 ? FalconNorms::parallel : FalconNorms::shared;
  table.Rule(config.norms == FalconNorms::shared || config.grouped == (config.norms == FalconNorms::parallel),
             "new_decoder_architecture has parallel sublayers, and only it has two norms of them");
}

void Describe(ConfigTable& table, FalconConfig& config) {
  table.Note("model_type", "falcon");
  table.Note("architectures", Json::Array{"FalconForCausalLM"});
  table.Size(KeyOf(table, "hidden_size", "n_embed"), config.model, "the model dimension");
  table.Layers("num_hidden_layers", config.layers);
  table.Heads("num_attention_heads", config.heads, config.model);
  DescribeFalconKind(table, config);
  table.Default(config.ffn, 4 * config.model);
  table.Size("ffn_hidden_size", config.ffn, "the ffn dimension");
  table.Choice("activation", config.activation, kActivationNames);
  table.Flag("bias", config.biases);
  table.Flag("alibi", config.linear_biases);
  table.Probability("hidden_dropout", config.dropout);
  table.Probability("attention_dropout", config.attention_dropout);
  table.Epsilon("layer_norm_epsilon", config.norm_epsilon);
  DescribeTokens(table, config);
  if (config.linear_biases)
    table.Harmless({"rope_parameters", "rope_scaling", "rope_theta"});
  else
    DescribeRotary(table, config.rotary, config.HeadDim(), config.positions);
  table.Harmless({"apply_residual_connection_post_layernorm"});  // not used by any Falcon
}

// The position data of one forward pass: rotary angles or linear biases.
struct FalconPositions {
  std::optional<ops::RotaryAngles> angles = {};
  ops::AttentionBias bias = {};
};

class FalconLayer {
 public:
  FalconLayer(const Scope& scope, const FalconConfig& config, int layer)
      : dropout_(config.dropout),
        attention_norm_(scope / (config.norms == FalconNorms::parallel ? "ln_attn" : "input_layernorm"), config.model,
                        config.norm_epsilon),
        attention_(scope / "self_attention",
                   {.model = config.model,
                    .heads = config.heads,
                    .key_heads = config.key_heads,
                    .dropout = config.attention_dropout,
                    .names = {.output = "dense", .query_key_value = "query_key_value", .grouped_by_head = true},
                    .biases = config.biases},
                   AttentionKind::decoder_self, layer),
        norms_(config.norms),
        feed_forward_(scope / "mlp", config.model, config.ffn, config.activation, {"dense_h_to_4h", "dense_4h_to_h"},
                      /*stored_transposed=*/false, config.biases) {
    if (norms_ != FalconNorms::shared)
      feed_forward_norm_.emplace(scope / (norms_ == FalconNorms::parallel ? "ln_mlp" : "post_attention_layernorm"),
                                 config.model, config.norm_epsilon);
  }

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const FalconPositions& positions) const {
    const auto attention = [&](Context&, const Tensor& input) {
      return attention_.Self(context, input, texts, /*causal=*/true, positions.bias,
                             {.angles = positions.angles ? &*positions.angles : nullptr});
    };
    if (norms_ == FalconNorms::in_turn) {
      const Tensor attended = PreNorm(context, x, attention_norm_, dropout_, attention);
      return PreNorm(context, attended, *feed_forward_norm_, dropout_, feed_forward_);
    }
    const Tensor input = attention_norm_(context, x);
    return ParallelSublayers(context, x, input, attention,
                             feed_forward_norm_ ? (*feed_forward_norm_)(context, x) : input, feed_forward_, dropout_);
  }

 private:
  double dropout_;
  LayerNorm attention_norm_;
  MultiHeadAttention attention_;
  FalconNorms norms_;
  std::optional<LayerNorm> feed_forward_norm_;
  FeedForward feed_forward_;
};

class Falcon : public DecoderStack<FalconConfig, FalconLayer, LayerNorm> {
 public:
  explicit Falcon(const FalconConfig& config)
      : DecoderStack(config, /*residual_layers=*/2 * config.layers, {"dense", "dense_4h_to_h"}) {
    if (config.linear_biases) return;
    rotary_ = config.rotary.Of(config.HeadDim());
    limits_.positions = config.rotary.LongestText(config.positions);
  }

  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override {
    const std::vector<std::int32_t> first_positions = BeginPass(context, texts, /*memory=*/nullptr, layers_.size());
    CheckLengths(texts, first_positions, limits_.positions);
    Tensor hidden = (*tokens_)(context, ids);
    FalconPositions positions;
    if (config_.linear_biases) {
      // Falcon adds the biases to the dot products before scaling the sums.
      const double scale = 1 / std::sqrt(static_cast<double>(config_.HeadDim()));
      positions.bias = LinearBiases({.heads = config_.heads, .factor = scale, .rounded = true}, texts, first_positions,
                                    hidden.dtype());
    } else {
      positions.angles = rotary_.Angles(texts, first_positions, hidden.dtype());
    }
    for (const FalconLayer& layer : layers_) hidden = layer(context, hidden, texts, positions);
    return (*final_norm_)(context, hidden);
  }

 private:
  RotaryPositions rotary_;
};

std::unique_ptr<Falcon> LoadFalcon(const ModelFolder& files, const LoadModelOptions& options) {
  FalconConfig config;
  ReadConfig(files.config, config, options.dropout);
  config.names.scope = ScopeIn(files.weights, config.names.scope);
  return LoadDecoder<Falcon>(files, options, config, {"self_attention.rotary_emb.inv_freq"});
}

std::unique_ptr<LanguageModel> NewFalcon(const LanguageModelSizes& sizes) {
  return std::make_unique<Falcon>(FalconConfig{.model = sizes.model,
                                               .layers = sizes.layers,
                                               .heads = sizes.heads,
                                               .key_heads = sizes.key_heads > 0 ? sizes.key_heads : sizes.heads,
                                               .ffn = sizes.ffn,
                                               .grouped = true,
                                               .norms = FalconNorms::parallel,
                                               .dropout = sizes.dropout,
                                               .attention_dropout = sizes.attention_dropout,
                                               .vocabulary = sizes.vocabulary,
                                               .positions = sizes.positions,
                                               .begin_id = sizes.begin_id,
                                               .end_id = sizes.end_id});
}

}  // namespace

namespace families {
extern const Family falcon =
    MakeFamily<Falcon, LoadFalcon>({"falcon"}, {{.name = "falcon", .make = NewFalcon, .grouped_keys = true}});
}  // namespace families

}  // namespace headlight
