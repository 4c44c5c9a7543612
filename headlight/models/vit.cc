#include "headlight/models/vit.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/stacks.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/view.h"

namespace headlight {

VitLayer::VitLayer(const Scope& scope, const VitConfig& config, int layer)
    : dropout_(config.dropout),
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

Tensor VitLayer::operator()(Context& context, const Tensor& x, const Sequences& pictures) const {
  const Tensor attended = PreNorm(context, x, attention_norm_, dropout_, [&](Context&, const Tensor& input) {
    return attention_.Self(context, input, pictures, /*causal=*/false);
  });
  return PreNorm(context, attended, feed_forward_norm_, dropout_, feed_forward_);
}

Vit::Vit(const VitConfig& config, DType dtype) : PictureEncoder(dtype), config_((CheckConfig(config), config)) {
  const Scope encoder = Scope(parameters_) / config.scope, embeddings = encoder / "embeddings";
  const Initialisation normal = Initialisation::Normal(0.02);
  const Grid grid = {config.picture.height / config.patch.height, config.picture.width / config.patch.width};
  limits_ = {config.picture, config.patch, config.channels, config.distillation ? 2 : 1, config.model};
  labels_ = config.labels;

  class_token_ = &embeddings.Declare("cls_token", {1, 1, config.model}, normal);
  if (config.distillation)
    distillation_token_ = &embeddings.Declare("distillation_token", {1, 1, config.model}, normal);
  if (config.mask) mask_ = &embeddings.Declare("mask_token", {1, 1, config.model}, Initialisation::Constant(0));
  positions_ = &embeddings.Declare("position_embeddings", {1, limits_.special + grid.cells(), config.model}, normal);
  const Scope projection = embeddings / "patch_embeddings" / "projection";
  patch_weight_ =
      &projection.DeclareMatrix({"weight"}, {config.model, config.channels, config.patch.height, config.patch.width});
  patch_bias_ = &projection.DeclareVector({"bias"}, config.model);
  for (int layer = 0; layer < config.layers; ++layer)
    layers_.emplace_back(encoder / "encoder" / "layer" / layer, config, layer);
  norm_.emplace(encoder / "layernorm", config.model, config.norm_epsilon);

  const Scope root(parameters_);
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

// The positions of the special tokens, then those of the patches: [special + patches, model].
Tensor Vit::Positions(Context& context, Grid grid) const {
  const Tensor table = ops::Reshape(context.Use(*positions_), {positions_->shape[1], config_.model});
  const Grid trained = {config_.picture.height / config_.patch.height, config_.picture.width / config_.patch.width};
  if (grid == trained) return table;
  std::vector<std::int32_t> special, patches;
  for (std::int32_t row = 0; row < positions_->shape[1]; ++row)
    (row < limits_.special ? special : patches).push_back(row);
  return ops::Concatenate(ops::Embedding(table, special),
                          InterpolatePositions(ops::Embedding(table, patches), trained, grid));
}

EncodedPictures Vit::Encode(Context& context, std::span<const Tensor> pictures,
                            std::span<const std::uint8_t> masked) const {
  Check(masked.empty() || mask_ != nullptr, "{}: this model has no token for masked patches", parameters_.source());
  const Tensor patches = Patches(pictures, config_.patch, config_.channels, parameters_.dtype());
  Check(masked.empty() || std::ssize(masked) == patches.rows(), "there are {} patches, and a mask of {}",
        patches.rows(), masked.size());

  // A table of the special tokens and the patches, from which each picture takes its rows (eq. 1).
  const auto row = [&](const Parameter& token) { return ops::Reshape(context.Use(token), {1, config_.model}); };
  Tensor table = row(*class_token_);
  for (const Parameter* token : {distillation_token_, masked.empty() ? nullptr : mask_})
    if (token != nullptr) table = ops::Concatenate(table, row(*token));
  const auto first_patch = static_cast<std::int32_t>(table.rows()), mask = first_patch - 1;
  table = ops::Concatenate(table, ops::Linear(patches, context.UseWeight(*patch_weight_), context.Use(*patch_bias_)));

  EncodedPictures encoded;
  Tensor positions;
  std::vector<std::pair<Grid, std::int32_t>> known;  // grids and the first row of their positions
  std::vector<std::int32_t> ids, places, lengths;
  std::int32_t patch = 0;
  for (const Tensor& picture : pictures) {
    const Grid grid = GridOf(picture, config_.patch);
    auto found = std::ranges::find(known, grid, &std::pair<Grid, std::int32_t>::first);
    if (found == known.end()) {
      found = known.insert(found, {grid, static_cast<std::int32_t>(positions.empty() ? 0 : positions.rows())});
      const Tensor more = Positions(context, grid);
      positions = positions.empty() ? more : ops::Concatenate(positions, more);
    }
    const std::int32_t length = limits_.special + static_cast<std::int32_t>(grid.cells());
    for (std::int32_t i = 0; i < length; ++i) {
      places.push_back(found->second + i);
      if (i < limits_.special) {
        ids.push_back(i);
        continue;
      }
      ids.push_back(!masked.empty() && masked[static_cast<std::size_t>(patch)] != 0 ? mask : first_patch + patch);
      ++patch;
    }
    lengths.push_back(length);
    encoded.grids.push_back(grid);
  }
  encoded.pictures = PackedSequences(lengths);
  Tensor hidden = ops::Embedding(table, ids, 1, positions, places, context.NextDropout(config_.dropout));
  for (const VitLayer& layer : layers_) hidden = layer(context, hidden, encoded.pictures);
  encoded.hidden = (*norm_)(context, hidden);
  return encoded;
}

namespace {

// Row `index` of each picture, [pictures, model].
Tensor RowOfEach(const EncodedPictures& encoded, std::int32_t index) {
  std::vector<std::int32_t> rows;
  for (const Sequence& picture : encoded.pictures) rows.push_back(picture.begin + index);
  return ops::Embedding(encoded.hidden, rows);
}

}  // namespace

Tensor Vit::Pool(Context& context, const EncodedPictures& encoded) const {
  Check(pooler_.has_value(), "{}: this model has no pooler", parameters_.source());
  return (*pooler_)(context, RowOfEach(encoded, 0), config_.pooler_activation);
}

Tensor Vit::ClassLogits(Context& context, const EncodedPictures& encoded) const {
  Check(classes_.has_value(), "{}: this model has no classes", parameters_.source());
  const Tensor logits = (*classes_)(context, RowOfEach(encoded, 0));
  if (!distilled_classes_) return logits;
  return ops::Scale(ops::Add(logits, (*distilled_classes_)(context, RowOfEach(encoded, 1))), 0.5);
}

Tensor Vit::Pixels(Context& context, const EncodedPictures& encoded) const {
  Check(pixels_weight_ != nullptr, "{}: this model has no head for masked pixels", parameters_.source());
  std::vector<std::int32_t> rows;
  for (const Sequence& picture : encoded.pictures)
    for (std::int32_t i = limits_.special; i < picture.length; ++i) rows.push_back(picture.begin + i);
  return ops::Linear(ops::Embedding(encoded.hidden, rows), context.UseWeight(*pixels_weight_),
                     context.Use(*pixels_bias_));
}

namespace {

// One number for a square, or [height, width].
void DescribeGrid(ConfigTable& table, std::string_view key, Grid& grid, std::string_view name) {
  if (table.reads() && table.json()[key].value().As<Json::Array>() != nullptr) {
    const std::vector<JsonView> sides = table.json()[key].Items();
    Check(sides.size() == 2, "{}: it must be one number or two, height and width", table.json()[key].place());
    grid = {sides[0].Integer(1, kLargestSize), sides[1].Integer(1, kLargestSize)};
    return;
  }
  if (table.writes() && grid.height != grid.width) return table.Note(key, Json::Array{grid.height, grid.width});
  table.Size(key, grid.height, name);
  if (table.reads()) grid.width = table.json()[key].present() ? grid.height : grid.width;
}

}  // namespace

void Describe(ConfigTable& table, VitConfig& config) {
  table.Note("model_type", config.distillation ? "deit" : "vit");
  DescribeEncoderStack(table, config);
  DescribeGrid(table, "image_size", config.picture, "the picture's size");
  DescribeGrid(table, "patch_size", config.patch, "the patch's size");
  table.Integer("num_channels", config.channels, "the number of channels", 1, 1024);
  table.Flag("qkv_bias", config.biases);
  if (!table.reads() || table.json()["pooler_output_size"].present()) {
    std::int64_t pooled = config.pooled.value_or(config.model);
    table.Size("pooler_output_size", pooled, "the pooler's outputs");
    config.pooled = pooled;
  }
  table.Choice("pooler_act", config.pooler_activation, kActivationNames);
  // Transformers' decoder of masked pictures unfolds by this factor, which it checks against the patch.
  if (table.reads() && config.masked_pixels) {
    const JsonView stride = table.json().Get("encoder_stride", 16);
    Check(stride.Integer() == config.patch.height && config.patch.height == config.patch.width,
          "{}: only the patch's size is supported, with square patches", stride.place());
  }
  if (table.writes()) table.Note("encoder_stride", config.patch.height);
  table.Harmless({"encoder_stride"});
  table.Rule(config.picture.height >= config.patch.height && config.picture.width >= config.patch.width,
             "a patch of {} x {} is larger than a picture of {} x {}", config.patch.height, config.patch.width,
             config.picture.height, config.picture.width);
  table.Rule(!config.distilled_classes || config.distillation, "a distilled head needs a distillation token");
  if (config.classes) CheckLabels(config.labels);
}

namespace {

std::unique_ptr<Vit> Load(const ModelFolder& files, const LoadModelOptions& options) {
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

namespace families {
extern const Family vit = MakeFamily<Vit, Load>({"vit", "deit"});
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
