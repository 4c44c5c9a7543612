// Decoders with mixtures of experts. The layers are Llama's layers with several feed-forward networks (experts) instead
// of one. Each token uses a few experts. Mixtral: Jiang et al., "Mixtral of Experts", 2024. Qwen2-MoE (Yang et al.,
// "Qwen2 Technical Report", 2024, section 2.2.2) adds an expert for all tokens. Qwen3-MoE (Yang et al., "Qwen3
// Technical Report", 2025) normalizes queries and keys.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/models/files/layer_windows.h"
#include "headlight/models/files/rotary_decoder.h"
#include "headlight/nn/experts.h"
#include "headlight/nn/query_key_norm.h"

namespace headlight {
namespace {

enum class MixtralFamily { mixtral, qwen2_moe, qwen3_moe };

// The defaults are the settings of Mixtral 8x7B.
struct MixtralConfig {
  MixtralFamily family = MixtralFamily::mixtral;
  std::int64_t model = 4096;
  int layers = 32;
  std::int32_t heads = 32;
  std::int32_t key_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 14336;     // ffn dimension of Mixtral's experts, and of Qwen's layers without experts
  std::int64_t expert_ffn = 0;  // ffn dimension of Qwen's experts
  std::int64_t shared_ffn = 0;  // ffn dimension of the shared expert; 0 if there is none
  std::int32_t experts = 8, experts_per_token = 2;
  bool normalized = true;        // if true, the weights of a token's experts sum to 1
  std::vector<bool> dense = {};  // [layers], true if a layer has a dense network instead of experts; empty: no layer
  double router_loss = 0.001;    // factor of ops::LoadBalancingLoss
  Activation activation = Activation::silu;
  bool attention_biases = false;  // if true, queries, keys and values have biases, and in Qwen3-MoE also the output
  LayerWindows windows = {};
  double attention_dropout = 0;
  double norm_epsilon = 1e-5;
  RotarySettings rotary = {.base = 1e6};
  std::int64_t vocabulary = 32000;
  std::int64_t positions = 4096 * 32;
  std::int32_t begin_id = 1, end_id = 2, pad_id = -1;
  std::vector<std::int32_t> other_end_ids = {};
  bool tie_output = false;
  std::string scope = "model";

  std::int32_t KeyHeads() const { return key_heads > 0 ? key_heads : heads; }
  std::int64_t HeadDim() const { return head_dim > 0 ? head_dim : model / heads; }
  std::int64_t ExpertFfn() const { return family == MixtralFamily::mixtral ? ffn : expert_ffn; }
  bool HasExperts(int layer) const { return dense.empty() || !dense[static_cast<std::size_t>(layer)]; }
};

constexpr ConfigName<MixtralFamily> kMixtralFamilies[] = {{"mixtral", MixtralFamily::mixtral},
                                                          {"qwen2_moe", MixtralFamily::qwen2_moe},
                                                          {"qwen3_moe", MixtralFamily::qwen3_moe}};

// Returns the default values of missing keys.
MixtralConfig MixtralDefaults(MixtralFamily family) {
  if (family == MixtralFamily::mixtral) return {};
  const bool shared = family == MixtralFamily::qwen2_moe;
  return {.family = family,
          .model = 2048,
          .layers = 24,
          .heads = shared ? 16 : 32,
          .ffn = shared ? 5632 : 6144,
          .expert_ffn = shared ? 1408 : 768,
          .shared_ffn = shared ? 5632 : 0,
          .experts = shared ? 60 : 128,
          .experts_per_token = shared ? 4 : 8,
          .normalized = false,
          .attention_biases = shared,
          .norm_epsilon = 1e-6,
          .rotary = {},
          .vocabulary = 151936,
          .positions = 32768,
          .begin_id = -1,
          .end_id = -1};
}

// Describes the number of experts, for which files use two names. The name in Transformers 5 is written.
void DescribeExpertCount(ConfigTable& table, MixtralConfig& config) {
  std::string_view written = "num_local_experts", other = "num_experts";
  if (config.family == MixtralFamily::qwen2_moe) std::swap(written, other);
  constexpr const char* name = "the number of experts";
  const bool has_other = table.reads() && table.json()[other].present();
  std::int32_t named_other = config.experts;
  if (has_other) table.Integer(other, named_other, name, 1, 1024);
  table.Default(config.experts, named_other);
  table.Integer(written, config.experts, name, 1, 1024);
  if (has_other)
    Check(named_other == config.experts, "{}: {} is {}, but {} is {}", table.json().location(), other, named_other,
          written, config.experts);
}

// Describes which layers have experts: every decoder_sparse_step-th layer, except those in mlp_only_layers.
void DescribeDenseLayers(ConfigTable& table, MixtralConfig& config) {
  const auto layers = static_cast<std::size_t>(config.layers);
  if (table.reads()) {
    const auto step = static_cast<std::size_t>(table.json().Get("decoder_sparse_step", 1).Integer(1, kLargestSize));
    config.dense.clear();
    for (std::size_t layer = 0; layer < layers; ++layer) config.dense.push_back((layer + 1) % step != 0);
    const JsonView given = table.json()["mlp_only_layers"];
    if (given.present())
      for (const JsonView& layer : given.Items())
        config.dense[static_cast<std::size_t>(layer.Integer(0, config.layers - 1))] = true;
  }
  table.Rule(config.dense.empty() || config.dense.size() == layers, "the experts of {} layers are given for {} layers",
             config.dense.size(), layers);
  Json::Array dense;
  for (int layer = 0; layer < config.layers; ++layer)
    if (!config.HasExperts(layer)) dense.push_back(layer);
  table.Note("decoder_sparse_step", 1);
  table.Note("mlp_only_layers", std::move(dense));
}

void DescribeExperts(ConfigTable& table, MixtralConfig& config) {
  const bool qwen = config.family != MixtralFamily::mixtral;
  DescribeExpertCount(table, config);
  table.Integer("num_experts_per_tok", config.experts_per_token, "the number of experts of a token", 1, 1024);
  table.Rule(config.experts_per_token <= config.experts, "num_experts_per_tok is {}, but there are only {} experts",
             config.experts_per_token, config.experts);
  constexpr std::int64_t most = 1 << 16;
  table.Rule(std::int64_t{config.layers} * config.experts <= most, "{} layers of {} experts are more than {} in all",
             config.layers, config.experts, most);
  table.Number("router_aux_loss_coef", config.router_loss, 0, 1000);
  table.Harmless({"output_router_logits", "router_jitter_noise"});  // only for training in Transformers
  if (qwen) {
    table.Size("moe_intermediate_size", config.expert_ffn, "an expert's ffn dimension");
    table.Flag("norm_topk_prob", config.normalized);
    DescribeDenseLayers(table, config);
  }
  if (config.family == MixtralFamily::qwen2_moe)
    table.Size("shared_expert_intermediate_size", config.shared_ffn, "the shared expert's ffn dimension");
}

void DescribeWindows(ConfigTable& table, MixtralConfig& config) {
  switch (config.family) {
    case MixtralFamily::mixtral:
      return DescribeWindow(table, config.windows, 0);
    case MixtralFamily::qwen3_moe: {
      bool used = config.windows.window > 0;
      table.Flag("use_sliding_window", used);
      DescribeWindow(table, config.windows, 4096);
      if (table.reads() && !used) config.windows = {};
      return table.Harmless({"max_window_layers"});
    }
    case MixtralFamily::qwen2_moe:
      // If layer_types is missing, every second layer among the first max_window_layers layers has a window.
      const std::int64_t first = table.reads() ? table.json().Get("max_window_layers", 28).Integer(0, kLargestSize) : 0;
      std::vector<bool> slides;
      for (int layer = 0; layer < config.layers; ++layer) slides.push_back(layer % 2 == 0 && layer < first);
      return DescribeLayerWindows(table, config.windows, 4096, slides);
  }
}

void Describe(ConfigTable& table, MixtralConfig& config) {
  table.Choice("model_type", config.family, kMixtralFamilies);
  if (table.reads()) config = MixtralDefaults(config.family);
  const bool mixtral = config.family == MixtralFamily::mixtral, qwen2 = config.family == MixtralFamily::qwen2_moe;
  table.Note("architectures", Json::Array{mixtral ? "MixtralForCausalLM"
                                          : qwen2 ? "Qwen2MoeForCausalLM"
                                                  : "Qwen3MoeForCausalLM"});
  DescribeStack(table, config, {.key_heads = mixtral ? 8 : qwen2 ? 16 : 4});
  DescribeExperts(table, config);
  table.Epsilon("rms_norm_eps", config.norm_epsilon);
  table.Choice("hidden_act", config.activation, kGateNames);
  if (!mixtral) table.Flag(qwen2 ? "qkv_bias" : "attention_bias", config.attention_biases);
  DescribeTokens(table, config);
  DescribeRotary(table, config.rotary, config.HeadDim(), config.positions);
  DescribeWindows(table, config);
}

MultiHeadAttentionConfig AttentionOf(const MixtralConfig& config, int layer) {
  MultiHeadAttentionConfig attention = RotaryAttentionOf(config);
  attention.output_bias = config.attention_biases && config.family == MixtralFamily::qwen3_moe;
  attention.window = config.windows.Of(layer);
  return attention;
}

ExpertsConfig ExpertsOf(const MixtralConfig& config) {
  GatedFeedForwardConfig each = {.model = config.model, .ffn = config.ExpertFfn(), .activation = config.activation};
  if (config.family == MixtralFamily::mixtral) {
    each.inner = {"w1", "w3"};
    each.outer = "w2";
  }
  return {.experts = config.experts,
          .per_token = config.experts_per_token,
          .normalized = config.normalized,
          .each = each,
          .shared_ffn = config.shared_ffn};
}

// Computes x + Attention(RMSNorm(x)), then x + Experts(RMSNorm(x)). Some layers have a dense feed-forward network
// instead of experts.
class MixtralLayer {
 public:
  MixtralLayer(const Scope& scope, const MixtralConfig& config, int layer)
      : attention_norm_(scope / "input_layernorm", config.model, config.norm_epsilon),
        attention_(scope / "self_attn", AttentionOf(config, layer), AttentionKind::decoder_self, layer),
        feed_forward_norm_(scope / "post_attention_layernorm", config.model, config.norm_epsilon) {
    if (config.family == MixtralFamily::qwen3_moe)
      query_key_norm_.emplace(scope / "self_attn", QueryKeyNormConfig{.query_columns = config.heads * config.HeadDim(),
                                                                      .query_run = config.HeadDim(),
                                                                      .key_run = config.HeadDim(),
                                                                      .epsilon = config.norm_epsilon});
    if (config.HasExperts(layer))
      experts_.emplace(scope / (config.family == MixtralFamily::mixtral ? "block_sparse_moe" : "mlp"),
                       ExpertsOf(config));
    else
      feed_forward_.emplace(
          scope / "mlp",
          GatedFeedForwardConfig{.model = config.model, .ffn = config.ffn, .activation = config.activation});
  }

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const ops::RotaryAngles& angles) const {
    const QueryKeySteps steps = {.norm = query_key_norm_ ? &*query_key_norm_ : nullptr, .angles = &angles};
    const Tensor change = attention_.Self(context, attention_norm_(context, x), texts, /*causal=*/true, {}, steps);
    const Tensor attended = ops::Residual(x, change);
    const Tensor input = feed_forward_norm_(context, attended);
    return ops::Residual(attended, experts_ ? (*experts_)(context, input) : (*feed_forward_)(context, input));
  }

 private:
  RmsNorm attention_norm_;
  MultiHeadAttention attention_;
  std::optional<QueryKeyNorm> query_key_norm_;
  RmsNorm feed_forward_norm_;
  std::optional<Experts> experts_;
  std::optional<GatedFeedForward> feed_forward_;
};

class Mixtral : public RotaryDecoder<MixtralConfig, MixtralLayer, RmsNorm> {
 public:
  explicit Mixtral(const MixtralConfig& config) : RotaryDecoder(config, /*residual_layers=*/2 * config.layers) {
    router_loss_factor_ = config.router_loss;
  }

 protected:
  Json::Object LayerSizes() const override {
    Json::Object sizes = RotaryDecoder::LayerSizes();
    AddMissing(sizes, {{"experts", config().experts},
                       {"experts_per_token", config().experts_per_token},
                       {"expert_ffn", config().ExpertFfn()}});
    return sizes;
  }
};

std::unique_ptr<Mixtral> LoadMixtral(const ModelFolder& files, const LoadModelOptions& options) {
  return LoadRotaryDecoder<Mixtral, MixtralConfig>(files, options);
}

template <MixtralFamily family>
std::unique_ptr<LanguageModel> NewMixtral(const LanguageModelSizes& sizes) {
  MixtralConfig config = MixtralDefaults(family);
  SetSizes(config, sizes);
  config.experts = sizes.experts;
  config.experts_per_token = sizes.experts_per_token;
  if (family == MixtralFamily::qwen3_moe) config.normalized = true;
  if (family != MixtralFamily::mixtral) {
    config.expert_ffn = sizes.ffn;
    config.ffn = sizes.ffn * sizes.experts_per_token;
  }
  // As in Qwen's models, the shared expert has the total size of a token's other experts.
  if (family == MixtralFamily::qwen2_moe) config.shared_ffn = config.ffn;
  return std::make_unique<Mixtral>(config);
}

// Describes how mixtures of experts are trained from scratch. Each expert is half as large as Llama's network, so that
// two experts per token have the same cost.
NewLanguageModel ExpertsFromScratch(std::string_view name,
                                    std::unique_ptr<LanguageModel> (*make)(const LanguageModelSizes&)) {
  NewLanguageModel made = GatedFromScratch(name, make);
  made.experts = true;
  made.ffn_of_model /= 2;
  return made;
}

}  // namespace

namespace families {
extern const Family mixtral = MakeFamily<Mixtral, LoadMixtral>(
    {"mixtral", "qwen2_moe", "qwen3_moe"}, {ExpertsFromScratch("mixtral", NewMixtral<MixtralFamily::mixtral>),
                                            ExpertsFromScratch("qwen2_moe", NewMixtral<MixtralFamily::qwen2_moe>),
                                            ExpertsFromScratch("qwen3_moe", NewMixtral<MixtralFamily::qwen3_moe>)});
}  // namespace families

}  // namespace headlight
