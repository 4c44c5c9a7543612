#include "headlight/models/deberta_v2.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/config_rules.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/unfold.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

constexpr const char* kType = "deberta-v2";

// Half of the rows of the table of relative vectors.
std::int64_t SpanOf(const DebertaV2Config& config) {
  return config.buckets > 0 ? config.buckets : config.base.farthest;
}

Scope SelfScope(const Scope& scope) { return scope / "attention" / "self"; }

}  // namespace

void CheckConfig(const DebertaV2Config& config) {
  CheckConfig(config.base);
  Check(
      config.buckets == 0 || (config.buckets >= 4 && config.base.farthest - 1 > config.buckets / 2),
      "position buckets must be at least 4, and half of them below the farthest relative position {} less one, not {}",
      config.base.farthest, config.buckets);
  Check(config.convolution == 0 || (config.convolution > 0 && config.convolution < 1024 && config.convolution % 2 == 1),
        "the convolution's width must be odd, or 0 for none, not {}", config.convolution);
}

std::int64_t RelativeRow(const DebertaV2Config& config, std::int64_t distance) {
  const std::int64_t span = SpanOf(config), middle = config.buckets / 2;
  if (config.buckets > 0 && std::abs(distance) > middle) {
    // What is farther than half of the buckets shares the other half, by its logarithm. In single precision, since
    // rounding decides about neighbouring buckets.
    const auto half = static_cast<float>(middle), far = static_cast<float>(std::abs(distance));
    const float share = std::log(far / half) / std::log(static_cast<float>(config.base.farthest - 1) / half);
    const auto bucket = static_cast<std::int64_t>(std::ceil(share * (half - 1)) + half);
    distance = distance > 0 ? bucket : -bucket;
  }
  return std::clamp(distance + span, std::int64_t{0}, 2 * span - 1);
}

DebertaV2Layer::DebertaV2Layer(const Scope& scope, const DebertaV2Config& config, int layer)
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

Tensor DebertaV2Layer::operator()(Context& context, const Tensor& x, const Sequences& texts,
                                  const RelativeVectors& relative) const {
  const std::int64_t model = x.columns();
  const Tensor projected = query_key_value_(context, x);
  Tensor relative_key, relative_query;
  if (!relative.vectors.empty()) {
    const Tensor vectors = ops::Drop(relative.vectors, context.NextDropout(dropout_));
    if (relative_key_) relative_key = (*relative_key_)(context, vectors);
    if (relative_query_) relative_query = (*relative_query_)(context, vectors);
    if (!relative_key_ && !relative_query_) {  // shared
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

DebertaV2::DebertaV2(const DebertaV2Config& config, DType dtype)
    : TextEncoder(dtype),
      config_((CheckConfig(config), config)),
      limits_{config.base.bert.vocabulary, config.base.bert.positions, config.base.bert.types, config.base.bert.pad_id,
              config.base.bert.model},
      embeddings_(DebertaScope(parameters_, config.base) / "embeddings", config.base) {
  const std::int64_t model = config.base.bert.model;
  const Scope encoder = DebertaScope(parameters_, config.base) / "encoder", convolution = encoder / "conv";
  const Initialisation normal = Initialisation::Normal(0.02);
  for (int layer = 0; layer < config.base.bert.layers; ++layer)
    layers_.emplace_back(encoder / "layer" / layer, config, layer);
  if (config.base.relative_positions)
    relative_ = &(encoder / "rel_embeddings").Declare("weight", {2 * SpanOf(config), model}, normal);
  if (config.normalize_relative) relative_norm_.emplace(encoder / "LayerNorm", model, config.base.bert.norm_epsilon);
  if (config.convolution > 0) {
    Parameter& weight = (convolution / "conv").DeclareMatrix({"weight"}, {model, model, config.convolution});
    weight.initialisation = normal;
    convolution_weight_ = &weight;
    convolution_bias_ = &(convolution / "conv").Declare("bias", {model}, Initialisation::Constant(0));
    convolution_norm_.emplace(convolution / "LayerNorm", model, config.base.bert.norm_epsilon);
  }
  heads_ = DebertaHeads(parameters_, config.base, embeddings_.words());
}

Tensor DebertaV2::Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                         const Sequences& texts, std::span<const std::int32_t> first_positions) const {
  const Tensor embedded = embeddings_(context, ids, types, texts, first_positions);
  RelativeVectors relative;
  if (relative_ != nullptr) {
    relative = RelativeVectorsOf(context.Use(*relative_), texts,
                                 [&](std::int64_t distance) { return RelativeRow(config_, distance); });
    if (relative_norm_) relative.vectors = (*relative_norm_)(context, relative.vectors);
  }
  Tensor hidden = layers_.front()(context, embedded, texts, relative);
  if (convolution_norm_) hidden = Convolve(context, embedded, hidden, texts);
  for (auto layer = layers_.begin() + 1; layer != layers_.end(); ++layer)
    hidden = (*layer)(context, hidden, texts, relative);
  return hidden;
}

// What stands next to a word, beside the first layer, which looks anywhere.
Tensor DebertaV2::Convolve(Context& context, const Tensor& embedded, const Tensor& hidden,
                           const Sequences& texts) const {
  const Tensor near = ops::Linear(ops::Unfold(embedded, texts, config_.convolution),
                                  context.UseWeight(*convolution_weight_), context.Use(*convolution_bias_));
  const Tensor dropped = ops::Drop(near, context.NextDropout(config_.base.bert.dropout));
  return convolution_norm_->AfterResidual(context, hidden, ops::Activate(config_.convolution_activation, dropped), 0);
}

namespace {

DebertaV2Config ReadConfig(const ModelFolder& files) {
  const JsonView& json = files.config;
  json["model_type"].String({kType});
  DebertaV2Config config;
  config.buckets = std::max<std::int64_t>(0, json.Get("position_buckets", -1).Integer(-1, kMostOfASize));
  config.share_projections = json.Get("share_att_key", false).Bool();
  config.normalize_relative = json.Get("norm_rel_ebd", "none").String({"none", "layer_norm"}) == "layer_norm";
  config.convolution = json.Get("conv_kernel_size", 0).Integer(0, kMostOfASize);
  config.convolution_activation = ActivationNamed(json.Get("conv_act", "tanh"));
  json.Get("conv_groups", 1).Integer(1, 1);
  json["attention_head_size"];  // checked below
  // What Transformers means where a key is missing.
  config.base.bert.model = 1536;
  config.base.bert.layers = config.base.bert.heads = 24;
  config.base.bert.ffn = 6144;
  ReadDebertaSettings(files, config.base);
  if (const JsonView size = json["attention_head_size"]; size.present())
    Check(size.Integer() * config.base.bert.heads == config.base.bert.model,
          "{}: {} heads of it must be hidden_size, {}", size.place(), config.base.bert.heads, config.base.bert.model);
  return config;
}

std::unique_ptr<DebertaV2> Load(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<DebertaV2>(ReadConfig(files));
  LoadWeights(files, options, model->parameters(),
              [&](std::string_view name) { return HarmlessDebertaTensor(name, model->config().base, files.weights); });
  return model;
}

}  // namespace

namespace families {
extern const Family deberta_v2 = MakeFamily<DebertaV2, Load>({kType});
}  // namespace families

std::unique_ptr<TextEncoder> DebertaV2::WithHeads(const TextHeadsConfig& heads) const {
  DebertaV2Config config = config_;
  config.base.bert.on_top = heads;
  config.base.bert.scope = DebertaConfig().bert.scope;
  return std::make_unique<DebertaV2>(config, parameters_.dtype());
}

void DebertaV2::Save(const std::string& folder, Compute compute) const {
  Json json = DebertaSettings(config_.base, kType, "DebertaV2");
  json.Set("position_buckets", config_.buckets > 0 ? config_.buckets : -1);
  json.Set("share_att_key", config_.share_projections);
  json.Set("norm_rel_ebd", config_.normalize_relative ? "layer_norm" : "none");
  json.Set("conv_kernel_size", config_.convolution);
  json.Set("conv_act", NameOf(config_.convolution_activation));
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight
