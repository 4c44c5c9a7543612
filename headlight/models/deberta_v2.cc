// DeBERTa versions 2 and 3 (He et al., "DeBERTaV3: Improving DeBERTa using ELECTRA-Style Pre-Training with
// Gradient-Disentangled Embedding Sharing", 2023). Both versions have the same layout. Relative positions are in
// logarithmic buckets, and the content matrices project their vectors. A convolution is parallel to the first layer.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/models/deberta.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/nn/disentangled_attention.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/unfold.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

// The defaults are the settings of DeBERTaV3-base.
struct DebertaV2Config {
  DebertaConfig base = {
      .family = "DebertaV2",
      .bert = {.norm_epsilon = 1e-7, .vocabulary = 128100, .types = 0, .on_top = {}, .scope = "deberta"}};
  std::int64_t buckets = 256;      // distances above half of this value share buckets; 0: one vector per distance
  bool share_projections = true;   // if true, relative vectors are projected by the content matrices
  bool normalize_relative = true;  // if true, relative vectors are normalized
  std::int64_t convolution = 0;    // kernel width of the convolution parallel to the first layer; 0: none
  Activation convolution_activation = Activation::tanh;
};

// Returns half the number of rows of the table of relative vectors.
std::int64_t SpanOf(const DebertaV2Config& config) {
  return config.buckets > 0 ? config.buckets : config.base.farthest;
}

Scope SelfScope(const Scope& scope) { return scope / "attention" / "self"; }

void Describe(ConfigTable& table, DebertaV2Config& config) {
  DebertaConfig& base = config.base;
  table.Note("model_type", "deberta-v2");
  table.Default(base.bert.model, 1536);
  table.Default(base.bert.layers, 24);
  table.Default(base.bert.heads, 24);
  table.Default(base.bert.ffn, 6144);
  DescribeDeberta(table, base);
  table.Default(config.buckets, -1);
  table.Default(config.share_projections, false);
  table.Default(config.normalize_relative, false);
  std::int64_t buckets = config.buckets > 0 ? config.buckets : -1;
  table.Integer("position_buckets", buckets, "the number of position buckets", -1, kLargestSize);
  config.buckets = std::max<std::int64_t>(0, buckets);
  table.Rule(
      config.buckets == 0 || (config.buckets >= 4 && base.farthest - 1 > config.buckets / 2),
      "position buckets must be at least 4, and half of them below the farthest relative position {} less one, not {}",
      base.farthest, config.buckets);
  table.Flag("share_att_key", config.share_projections);
  table.Choice("norm_rel_ebd", config.normalize_relative, {{"none", false}, {"layer_norm", true}});
  table.Integer("conv_kernel_size", config.convolution, "the convolution's width", 0, 1023);
  table.Rule(config.convolution == 0 || config.convolution % 2 == 1,
             "the convolution's width must be odd, or 0 for none, not {}", config.convolution);
  table.Choice("conv_act", config.convolution_activation, kActivationNames);
  table.Only("conv_groups", 1);
  if (table.reads())
    table.Only("attention_head_size", base.bert.model / base.bert.heads, "a size other than hidden_size by the heads");
}

class DebertaV2Layer {
 public:
  DebertaV2Layer(const Scope& scope, const DebertaV2Config& config, int layer)
      : attention_{config.base.bert.heads, config.base.content_to_position, config.base.position_to_content,
                   config.base.bert.attention_dropout, layer},
        dropout_(config.base.bert.dropout),
        query_key_value_(SelfScope(scope), {"query_proj", "key_proj", "value_proj"}, config.base.bert.model,
                         3 * config.base.bert.model),
        sublayers_(scope, config.base) {
    if (!config.base.relative_positions || config.share_projections) return;
    const std::vector<std::string> key = {"pos_key_proj"}, query = {"pos_query_proj"};
    const std::int64_t model = config.base.bert.model;
    if (config.base.content_to_position) relative_key_.emplace(SelfScope(scope), key, model, model);
    if (config.base.position_to_content) relative_query_.emplace(SelfScope(scope), query, model, model);
  }

  Tensor operator()(Context& context, const Tensor& x, const Sequences& texts, const RelativeVectors& relative) const {
    const std::int64_t model = x.columns();
    const Tensor projected = query_key_value_(context, x);
    Tensor relative_key, relative_query;
    if (!relative.vectors.empty()) {
      const Tensor vectors = ops::Drop(relative.vectors, context.NextDropout(dropout_));
      if (relative_key_) relative_key = (*relative_key_)(context, vectors);
      if (relative_query_) relative_query = (*relative_query_)(context, vectors);
      if (!relative_key_ && !relative_query_) {  // the content matrices are shared
        const Tensor both = query_key_value_(context, vectors);
        if (attention_.position_to_content) relative_query = ops::Columns(both, 0, model);
        if (attention_.content_to_position) relative_key = ops::Columns(both, model, model);
      }
    }
    return sublayers_(
        context, x,
        attention_(context, ops::Columns(projected, 0, model), ops::Columns(projected, model, model),
                   ops::Columns(projected, 2 * model, model), texts, relative, relative_key, relative_query));
  }

 private:
  DisentangledAttention attention_;
  double dropout_;
  Linear query_key_value_;
  std::optional<Linear> relative_key_, relative_query_;  // empty if the content matrices are shared
  DebertaSublayers sublayers_;
};

BertConfig& BertOf(DebertaV2Config& config) { return config.base.bert; }
TextHeadsLayout HeadsOf(const DebertaV2Config& config) { return HeadsOf(config.base); }
OtherTensors OthersOf(const DebertaV2Config& config) { return OthersOf(config.base); }

class DebertaV2 : public BertDescendant<DebertaV2, DebertaV2Config> {
 public:
  explicit DebertaV2(const DebertaV2Config& config)
      : BertDescendant(config),
        embeddings_(Scope(parameters_) / config.base.bert.scope / "embeddings", config.base.bert,
                    config.base.absolute_positions) {
    const BertConfig& bert = config.base.bert;
    limits_ = {bert.vocabulary, bert.positions, bert.types, bert.pad_id, bert.model};
    const std::int64_t model = config.base.bert.model;
    const Scope encoder = Scope(parameters_) / bert.scope / "encoder", convolution = encoder / "conv";
    const Initialization normal = Initialization::Normal(0.02);
    for (int layer = 0; layer < config.base.bert.layers; ++layer)
      layers_.emplace_back(encoder / "layer" / layer, config, layer);
    if (config.base.relative_positions)
      relative_ = &(encoder / "rel_embeddings").Declare("weight", {2 * SpanOf(config), model}, normal);
    if (config.normalize_relative) relative_norm_.emplace(encoder / "LayerNorm", model, config.base.bert.norm_epsilon);
    if (config.convolution > 0) {
      Parameter& weight = (convolution / "conv").DeclareMatrix({"weight"}, {model, model, config.convolution});
      weight.initialization = normal;
      convolution_weight_ = &weight;
      convolution_bias_ = &(convolution / "conv").Declare("bias", {model}, Initialization::Constant(0));
      convolution_norm_.emplace(convolution / "LayerNorm", model, config.base.bert.norm_epsilon);
    }
    DeclareHeads(parameters_, bert.on_top, HeadsOf(config), embeddings_.tokens());
  }

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                const Sequences& texts, std::span<const std::int32_t> first_positions) const override {
    const Tensor embedded = embeddings_(context, ids, types, texts, first_positions);
    RelativeVectors relative;
    if (relative_ != nullptr) {
      relative = RelativeVectorsOf(context.Use(*relative_), texts, config_.buckets, config_.base.farthest);
      if (relative_norm_) relative.vectors = (*relative_norm_)(context, relative.vectors);
    }
    Tensor hidden = layers_.front()(context, embedded, texts, relative);
    if (convolution_norm_) hidden = Convolve(context, embedded, hidden, texts);
    for (auto layer = layers_.begin() + 1; layer != layers_.end(); ++layer)
      hidden = (*layer)(context, hidden, texts, relative);
    return hidden;
  }

 private:
  // Computes the convolution over neighboring tokens, in parallel with the first layer.
  Tensor Convolve(Context& context, const Tensor& embedded, const Tensor& hidden, const Sequences& texts) const {
    const Tensor near = ops::Linear(ops::Unfold(embedded, texts, config_.convolution),
                                    context.UseWeight(*convolution_weight_), context.Use(*convolution_bias_));
    const Tensor dropped = ops::Drop(near, context.NextDropout(config_.base.bert.dropout));
    return convolution_norm_->AfterResidual(context, hidden, ops::Activate(config_.convolution_activation, dropped), 0);
  }

  BertEmbeddings embeddings_;
  std::deque<DebertaV2Layer> layers_;
  const Parameter *relative_ = nullptr, *convolution_weight_ = nullptr, *convolution_bias_ = nullptr;
  std::optional<LayerNorm> relative_norm_, convolution_norm_;
};

std::unique_ptr<DebertaV2> LoadDebertaV2(const ModelFolder& files, const LoadModelOptions& options) {
  DebertaV2Config config;
  config.base.own_masked_words = OwnMaskedWords(files.weights);
  return LoadBertDescendant<DebertaV2>(files, options, config);
}

}  // namespace

namespace families {
extern const Family deberta_v2 = MakeFamily<DebertaV2, LoadDebertaV2>({"deberta-v2"});
}  // namespace families

}  // namespace headlight
