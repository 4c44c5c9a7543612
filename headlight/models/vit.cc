#include "headlight/models/vit.h"

#include <memory>
#include <utility>

#include "headlight/io/config_table.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/image_settings.h"
#include "headlight/models/files/stacks.h"
#include "headlight/nn/drop_path.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/linear.h"

namespace headlight {

VitLayer::VitLayer(const Scope& scope, const VitConfig& config, int layer)
    : layer_(layer),
      layers_(config.layers),
      dropout_(config.dropout),
      attention_norm_(scope / "layernorm_before", config.model, config.norm_epsilon),
      attention_(scope / "attention",
                 {.model = config.model,
                  .heads = config.heads,
                  .dropout = config.attention_dropout,
                  .names = {"attention.query", "attention.key", "attention.value", "output.dense"},
                  .biases = config.biases,
                  .output_bias = true},
                 AttentionKind::encoder_self, layer),
      feed_forward_norm_(scope / "layernorm_after", config.model, config.norm_epsilon),
      feed_forward_(scope, config.model, config.ffn, config.activation, {"intermediate.dense", "output.dense"}) {}

Tensor VitLayer::operator()(Context& context, const Tensor& x, const Sequences& images) const {
  const Tensor attended = PreNorm(context, x, attention_norm_, dropout_, [&](Context&, const Tensor& input) {
    return DropPath(context, attention_.Self(context, input, images, /*causal=*/false), images, layer_, layers_);
  });
  return PreNorm(context, attended, feed_forward_norm_, dropout_, [&](Context&, const Tensor& input) {
    return DropPath(context, feed_forward_(context, input), images, layer_, layers_);
  });
}

namespace {

ImageEmbeddingConfig EmbeddingOf(const VitConfig& config) {
  ImageEmbeddingConfig embedding{.model = config.model,
                                 .image = config.image,
                                 .patch = config.patch,
                                 .channels = config.channels,
                                 .dropout = config.dropout};
  if (config.distillation) embedding.special.push_back({"distillation_token"});
  if (config.mask) embedding.mask = {1, 1, config.model};
  return embedding;
}

}  // namespace

VitEncoder::VitEncoder(const Scope& scope, const VitConfig& config)
    : embedding_(scope / "embeddings", EmbeddingOf(config)) {
  for (int layer = 0; layer < config.layers; ++layer)
    layers_.emplace_back(scope / "encoder" / "layer" / layer, config, layer);
  norm_.emplace(scope / "layernorm", config.model, config.norm_epsilon);
}

EncodedImages VitEncoder::operator()(Context& context, std::span<const Tensor> images,
                                     std::span<const std::uint8_t> masked) const {
  EncodedImages encoded = embedding_(context, images, masked);
  for (const VitLayer& layer : layers_) encoded.hidden = layer(context, encoded.hidden, encoded.images);
  encoded.hidden = (*norm_)(context, encoded.hidden);
  return encoded;
}

Vit::Vit(const VitConfig& config, DType dtype)
    : ImageEncoder(dtype), config_(Checked(config)), encoder_(Scope(parameters_) / config.scope, config) {
  const Scope root(parameters_), encoder = root / config.scope;
  limits_ = encoder_.limits();
  labels_ = config.labels;
  heads_ = {.pooler = config.pooler, .classes = config.classes, .pixels = config.masked_pixels};

  const std::int64_t labels = std::ssize(config.labels);
  if (config.pooler)
    pooler_.emplace(encoder, std::vector<std::string>{"pooler.dense"}, config.model,
                    config.pooled.value_or(config.model));
  if (config.classes)
    classes_.emplace(root, std::vector<std::string>{config.distilled_classes ? "cls_classifier" : "classifier"},
                     config.model, labels);
  if (config.distilled_classes)
    distilled_classes_.emplace(root, std::vector<std::string>{"distillation_classifier"}, config.model, labels);
  if (config.masked_pixels) {
    const std::int64_t pixels = config.channels * config.patch.cells();
    pixels_weight_ = &(root / "decoder" / 0).DeclareMatrix({"weight"}, {pixels, config.model, 1, 1});
    pixels_bias_ = &(root / "decoder" / 0).DeclareVector({"bias"}, pixels);
  }
}

Tensor Vit::Pool(Context& context, const EncodedImages& encoded) const {
  Check(pooler_.has_value(), "{}: this model has no pooler", parameters_.source());
  return (*pooler_)(context, encoded.RowOfEach(0), config_.pooler_activation);
}

Tensor Vit::ClassLogits(Context& context, const EncodedImages& encoded) const {
  Check(classes_.has_value(), "{}: this model has no classes", parameters_.source());
  const Tensor logits = (*classes_)(context, encoded.RowOfEach(0));
  if (!distilled_classes_) return logits;
  return ops::Scale(ops::Add(logits, (*distilled_classes_)(context, encoded.RowOfEach(1))), 0.5);
}

void Vit::AddOutputs(Context& context, const EncodedImages& encoded, NamedTensors& out) const {
  if (!distilled_classes_) return;
  out.tensors["cls_logits"] = (*classes_)(context, encoded.RowOfEach(0));
  out.tensors["distillation_logits"] = (*distilled_classes_)(context, encoded.RowOfEach(1));
}

Tensor Vit::Pixels(Context& context, const EncodedImages& encoded) const {
  Check(pixels_weight_ != nullptr, "{}: this model has no head for masked pixels", parameters_.source());
  std::vector<std::int32_t> patches;
  for (const Sequence& image : encoded.images)
    for (std::int32_t i = limits_.special; i < image.length; ++i) patches.push_back(image.begin + i);
  return ops::Linear(ops::Embedding(encoded.hidden, patches), context.UseWeight(*pixels_weight_),
                     context.Use(*pixels_bias_));
}

void Describe(ConfigTable& table, VitConfig& config) {
  table.Note("model_type", config.distillation ? "deit" : "vit");
  DescribeEncoderStack(table, config);
  DescribeImages(table, config.image, config.patch, config.channels);
  table.Flag("qkv_bias", config.biases);
  if (!table.reads() || table.json()["pooler_output_size"].present()) {
    std::int64_t pooled = config.pooled.value_or(config.model);
    table.Size("pooler_output_size", pooled, "the pooler's outputs");
    config.pooled = pooled;
  }
  table.Choice("pooler_act", config.pooler_activation, kActivationNames);
  // In Transformers, the decoder for masked pixels unfolds by this factor, which must be the patch size.
  if (table.reads() && config.masked_pixels) {
    const JsonView stride = table.json().Get("encoder_stride", 16);
    Check(stride.Integer() == config.patch.height && config.patch.height == config.patch.width,
          "{}: only the patch's size is supported, with square patches", stride.location());
  }
  if (table.writes()) table.Note("encoder_stride", config.patch.height);
  table.Harmless({"encoder_stride"});
  table.Rule(!config.distilled_classes || config.distillation, "a distilled head needs a distillation token");
  if (config.classes) CheckLabels(config.labels);
}

namespace {

std::unique_ptr<Vit> LoadVit(const ModelFolder& files, const LoadModelOptions& options) {
  VitConfig config;
  const auto has = [&](const std::string& name) { return files.weights.contains(name + ".weight"); };
  config.distillation = files.config["model_type"].String() == "deit";
  config.scope = config.distillation ? "deit" : "vit";
  if (!files.weights.contains(config.scope + ".embeddings.cls_token")) config.scope = "";
  config.pooler = has(Prefix(config.scope) + "pooler.dense");
  config.distilled_classes = has("distillation_classifier");
  config.classes = has("classifier") || config.distilled_classes;
  config.masked_pixels = has("decoder.0");
  config.mask = files.weights.contains(Prefix(config.scope) + "embeddings.mask_token");
  if (config.classes) config.labels = ReadLabels(files.config);
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Vit>(config);
  LoadWeights(files, options, model->parameters(), {});
  return model;
}

}  // namespace

std::unique_ptr<ImageEncoder> Vit::WithClasses(const std::vector<std::string>& labels) const {
  VitConfig config = config_;
  config.classes = !labels.empty();
  config.labels = labels;
  config.pooler = config.distilled_classes = config.masked_pixels = config.mask = false;
  config.scope = config.distillation ? "deit" : "vit";
  return std::make_unique<Vit>(config);
}

namespace families {
extern const Family vit = MakeFamily<Vit, LoadVit>({"vit", "deit"});
}  // namespace families

void Vit::Save(const std::string& folder, Compute compute) const {
  Json json = WriteConfig(config_);
  const std::string family = config_.distillation ? "DeiT" : "ViT";
  const char* kind = config_.distilled_classes ? "ForImageClassificationWithTeacher"
                     : config_.classes         ? "ForImageClassification"
                     : config_.masked_pixels   ? "ForMaskedImageModeling"
                                               : "Model";
  json.Set("architectures", Json::Array{family + kind});
  WriteLabels(json, config_.labels);
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight
