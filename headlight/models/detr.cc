#include "headlight/models/detr.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stacks.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/sigmoid.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

constexpr std::int64_t kLearnedPositions = 50;  // maximum number of rows and columns of a feature map

// Returns the root scope. In a model with masks, all parameter names of the detector begin with "detr".
Scope RootOf(Parameters& parameters, bool masks) { return Scope(parameters) / (masks ? "detr" : ""); }

}  // namespace

DetrAttention::DetrAttention(const Scope& scope, const DetrConfig& config, std::int32_t heads, AttentionKind kind,
                             int layer)
    : heads_(heads),
      dropout_(config.attention_dropout),
      kind_(kind),
      layer_(layer),
      query_(scope, {"q_proj"}, config.model, config.model),
      key_(scope, {"k_proj"}, config.model, config.model),
      value_(scope, {"v_proj"}, config.model, config.model),
      output_(scope, {"out_proj"}, config.model, config.model) {}

Tensor DetrAttention::operator()(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                                 const Sequences& queries, const Sequences& keys) const {
  const ScaledDotProductAttention attention = {.heads = heads_, .dropout = dropout_, .compute = output_.compute()};
  const Tensor q = query_(context, query), k = key_(context, key), v = value_(context, value);
  return output_(context, attention.Attend(context, {kind_, layer_}, q, k, v, queries, keys));
}

DetrEncoderLayer::DetrEncoderLayer(const Scope& scope, const DetrConfig& config, int layer)
    : dropout_(config.dropout),
      self_attention_(scope / "self_attn", config, config.encoder_heads, AttentionKind::encoder_self, layer),
      self_attention_norm_(scope / "self_attn_layer_norm", config.model),
      feed_forward_(scope, config.model, config.encoder_ffn, config.activation),
      feed_forward_norm_(scope / "final_layer_norm", config.model) {}

Tensor DetrEncoderLayer::operator()(Context& context, const Tensor& x, const Tensor& positions,
                                    const Sequences& images) const {
  const Tensor attended = PostNorm(context, x, self_attention_norm_, dropout_, [&](Context&, const Tensor& input) {
    const Tensor positioned = ops::Add(input, positions);
    return self_attention_(context, positioned, positioned, input, images, images);
  });
  return PostNorm(context, attended, feed_forward_norm_, dropout_, feed_forward_);
}

DetrDecoderLayer::DetrDecoderLayer(const Scope& scope, const DetrConfig& config, int layer)
    : dropout_(config.dropout),
      self_attention_(scope / "self_attn", config, config.decoder_heads, AttentionKind::decoder_self, layer),
      self_attention_norm_(scope / "self_attn_layer_norm", config.model),
      cross_attention_(scope / "encoder_attn", config, config.decoder_heads, AttentionKind::cross, layer),
      cross_attention_norm_(scope / "encoder_attn_layer_norm", config.model),
      feed_forward_(scope, config.model, config.decoder_ffn, config.activation),
      feed_forward_norm_(scope / "final_layer_norm", config.model) {}

Tensor DetrDecoderLayer::operator()(Context& context, const Tensor& x, const Tensor& positions,
                                    const Sequences& queries, const DetrMemory& memory) const {
  Tensor hidden = PostNorm(context, x, self_attention_norm_, dropout_, [&](Context&, const Tensor& input) {
    const Tensor positioned = ops::Add(input, positions);
    return self_attention_(context, positioned, positioned, input, queries, queries);
  });
  hidden = PostNorm(context, hidden, cross_attention_norm_, dropout_, [&](Context&, const Tensor& input) {
    return cross_attention_(context, ops::Add(input, positions), memory.positioned, memory.rows, queries,
                            memory.images);
  });
  return PostNorm(context, hidden, feed_forward_norm_, dropout_, feed_forward_);
}

Detr::Detr(const DetrConfig& config, DType dtype)
    : DetectionModel(dtype),
      config_(Checked(config)),
      backbone_(RootOf(parameters_, config.masks) / "model" / "backbone" / "conv_encoder" / "model", config.backbone,
                config.timm_backbone.empty() ? ResnetNames::transformers : ResnetNames::timm,
                config.backbone_statistics) {
  limits_ = {.queries = config.queries, .channels = config.backbone.channels, .masks = config.masks};
  labels_ = config.labels;
  const Scope root = RootOf(parameters_, config.masks), model = root / "model";
  projection_weight_ =
      &(model / "input_projection").DeclareMatrix({"weight"}, {config.model, config.backbone.hidden.back(), 1, 1});
  projection_bias_ = &(model / "input_projection").DeclareVector({"bias"}, config.model);
  if (config.learned_positions) {
    const Scope positions = root / config.position_scope;
    const Shape shape = {kLearnedPositions, config.model / 2};
    rows_ = &(positions / "row_embeddings").Declare("weight", shape, Initialization::Normal(0.5));
    columns_ = &(positions / "column_embeddings").Declare("weight", shape, Initialization::Normal(0.5));
  }
  queries_ = &(model / "query_position_embeddings")
                  .Declare("weight", {config.queries, config.model}, Initialization::Normal(1));
  for (int layer = 0; layer < config.encoder_layers; ++layer)
    encoder_.emplace_back(model / "encoder" / "layers" / layer, config, layer);
  for (int layer = 0; layer < config.decoder_layers; ++layer)
    decoder_.emplace_back(model / "decoder" / "layers" / layer, config, layer);
  decoder_norm_.emplace(model / "decoder" / "layernorm", config.model);
  classes_.emplace(root, std::vector<std::string>{"class_labels_classifier"}, config.model,
                   std::ssize(config.labels) + 1);
  for (const std::int64_t outputs : {config.model, config.model, std::int64_t{4}})
    boxes_.emplace_back(root / "bbox_predictor" / "layers", std::vector{std::to_string(boxes_.size())}, config.model,
                        outputs);
  if (config.masks)
    masks_.emplace(Scope(parameters_),
                   MaskHeadSizes{.model = config.model,
                                 .heads = config.encoder_heads,
                                 .queries = config.queries,
                                 .stages = {config.backbone.hidden.rend() - 3, config.backbone.hidden.rend()},
                                 .activation = config.activation});
}

namespace {

// Returns the pixel of a mask that corresponds to a cell of the feature map (nearest-neighbor resize).
std::int64_t NearestPixel(std::int64_t cell, std::int64_t cells, std::int64_t pixels) { return cell * pixels / cells; }

// Sets the cells of `found` to the unmasked cells of the feature maps.
void FindCells(std::span<const Tensor> images, std::span<const DetectionModel::PixelMask> masks,
               const std::vector<Grid>& grids, DetectedImages& found) {
  Check(masks.empty() || masks.size() == images.size(), "there are {} images, and {} masks", images.size(),
        masks.size());
  found.grids = grids;
  std::vector<std::int32_t> lengths;
  for (std::size_t image = 0; image < grids.size(); ++image) {
    const auto [height, width] = grids[image];
    const std::int64_t pixel_rows = images[image].shape()[0], pixel_columns = images[image].shape()[1];
    const auto* mask = masks.empty() || masks[image].empty() ? nullptr : masks[image].data();
    Check(mask == nullptr || std::ssize(masks[image]) == pixel_rows * pixel_columns,
          "a mask of {} pixels does not fit an image of {} x {}", masks.empty() ? 0 : masks[image].size(), pixel_rows,
          pixel_columns);
    std::int32_t length = 0;
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        if (mask != nullptr &&
            mask[NearestPixel(y, height, pixel_rows) * pixel_columns + NearestPixel(x, width, pixel_columns)] == 0)
          continue;
        found.cells.push_back(static_cast<std::int32_t>(y * width + x));
        ++length;
      }
    Check(length > 0, "a mask hides all of its image");
    lengths.push_back(length);
  }
  found.images = PackedSequences(lengths);
}

// Appends d alternating sines and cosines of a position along one axis.
template <typename T>
T* WriteSines(double place, std::int64_t d, T* to) {
  for (std::int64_t i = 0; i < d; ++i) {
    const std::int64_t pair = i / 2;
    const double angle = place / std::pow(10000.0, 2.0 * static_cast<double>(pair) / static_cast<double>(d));
    *to++ = static_cast<T>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
  }
  return to;
}

// Encodes the vertical and horizontal position of each unmasked cell. A position is 2 pi n / total. n is the number of
// unmasked cells up to and including this cell, and `total` is the number of unmasked cells in its column or row
// (section A.4 and the authors' code).
template <typename T>
void WriteSinePositions(const DetectedImages& images, const Tensor& positions) {
  T* to = positions.data<T>();
  for (std::size_t image = 0; image < images.grids.size(); ++image) {
    const auto [height, width] = images.grids[image];
    const auto [begin, length, step] = images.images[image];
    std::vector<double> in_row(static_cast<std::size_t>(height)), in_column(static_cast<std::size_t>(width));
    const std::span cells =
        std::span(images.cells).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length));
    for (const std::int32_t cell : cells) {
      ++in_row[static_cast<std::size_t>(cell / width)];
      ++in_column[static_cast<std::size_t>(cell % width)];
    }
    std::vector<double> left(in_row.size()), above(in_column.size());
    const auto share = [](double& count, double all) { return ++count / (all + 1e-6) * 2 * std::numbers::pi; };
    for (const std::int32_t cell : cells) {
      const auto y = static_cast<std::size_t>(cell / width), x = static_cast<std::size_t>(cell % width);
      to = WriteSines<T>(share(above[x], in_column[x]), positions.columns() / 2, to);
      to = WriteSines<T>(share(left[y], in_row[y]), positions.columns() / 2, to);
    }
  }
}

}  // namespace

// Returns the positional embeddings [cells, model].
Tensor Detr::CellPositions(Context& context, const DetectedImages& images) const {
  if (!config_.learned_positions) {
    const Tensor positions = Tensor::Empty({std::ssize(images.cells), config_.model}, parameters_.dtype());
    Dispatch(positions.dtype(), [&]<typename T>(T) { WriteSinePositions<T>(images, positions); });
    return positions;
  }
  // The first half of a cell's embedding is the vector of its column, and the second half is the vector of its row.
  // Both are looked up in one table.
  const Tensor table = ops::Concatenate(context.Use(*columns_), context.Use(*rows_));
  std::vector<std::int32_t> halves;
  for (std::size_t image = 0; image < images.grids.size(); ++image) {
    const auto [height, width] = images.grids[image];
    Check(height <= kLearnedPositions && width <= kLearnedPositions,
          "{}: an image's map has {} x {} cells, and the model positions for {} x {}", parameters_.source(), height,
          width, kLearnedPositions, kLearnedPositions);
    const Sequence& rows = images.images[image];
    for (std::int32_t i = 0; i < rows.length; ++i) {
      const std::int32_t cell = images.cells[static_cast<std::size_t>(rows.row(i))];
      halves.push_back(cell % static_cast<std::int32_t>(width));
      halves.push_back(static_cast<std::int32_t>(kLearnedPositions) + cell / static_cast<std::int32_t>(width));
    }
  }
  return ops::Reshape(ops::Embedding(table, halves), {std::ssize(images.cells), config_.model});
}

QueryAnswers Detr::Answer(Context& context, const Tensor& states) const {
  Tensor boxes = boxes_[0](context, states, Activation::relu);
  boxes = boxes_[2](context, boxes_[1](context, boxes, Activation::relu));
  return {.logits = (*classes_)(context, states), .boxes = ops::Sigmoid(boxes)};
}

DetectedImages Detr::Detect(Context& context, std::span<const Tensor> images, std::span<const PixelMask> masks,
                            bool all_layers) const {
  Check(!images.empty(), "there is no image");
  std::vector<FeatureMaps> maps = backbone_(context, MapsOf(images, config_.backbone.channels, parameters_.dtype()));
  DetectedImages found;
  FindCells(images, masks, maps.back().grids, found);
  const Tensor projected =
      ops::Linear(maps.back().rows, context.UseWeight(*projection_weight_), context.Use(*projection_bias_));
  if (masks_) found.maps = {{projected, found.grids}, std::move(maps[3]), std::move(maps[2]), std::move(maps[1])};
  Tensor hidden = projected;
  if (std::ssize(found.cells) < projected.rows()) {
    std::vector<std::int32_t> seen;
    std::int32_t first = 0;  // first row of the image's feature map
    for (std::size_t image = 0; image < found.grids.size(); ++image) {
      const Sequence& rows = found.images[image];
      for (std::int32_t i = 0; i < rows.length; ++i)
        seen.push_back(first + found.cells[static_cast<std::size_t>(rows.row(i))]);
      first += static_cast<std::int32_t>(found.grids[image].cells());
    }
    hidden = ops::Embedding(projected, seen);
  }

  const Tensor positions = CellPositions(context, found);
  for (const DetrEncoderLayer& layer : encoder_) hidden = layer(context, hidden, positions, found.images);
  found.memory = hidden;

  // The decoder's input is zero. Only the positional embeddings distinguish the queries.
  std::vector<std::int32_t> ids, lengths;
  for (std::size_t image = 0; image < images.size(); ++image) {
    for (std::int32_t query = 0; query < config_.queries; ++query) ids.push_back(query);
    lengths.push_back(static_cast<std::int32_t>(config_.queries));
  }
  const Sequences queries = PackedSequences(lengths);
  const Tensor query_positions = ops::Embedding(context.Use(*queries_), ids);
  const DetrMemory memory = {hidden, ops::Add(hidden, positions), found.images};
  hidden = Tensor::Zeros({std::ssize(ids), config_.model}, parameters_.dtype());
  for (std::size_t layer = 0; layer < decoder_.size(); ++layer) {
    hidden = decoder_[layer](context, hidden, query_positions, queries, memory);
    if (config_.norm_between_layers) hidden = (*decoder_norm_)(context, hidden);
    if (all_layers && layer + 1 < decoder_.size())
      found.layers.push_back(Answer(context, config_.norm_between_layers ? hidden : (*decoder_norm_)(context, hidden)));
  }
  found.queries = (*decoder_norm_)(context, hidden);
  found.layers.push_back(Answer(context, found.queries));
  return found;
}

FeatureMaps Detr::Masks(Context& context, const DetectedImages& found, std::span<const std::int32_t> queries) const {
  Check(masks_.has_value(), "{}: this model has no masks, only boxes", parameters_.source());
  return (*masks_)(context, found, queries);
}

namespace {

// Reads `backbone_config`, or the key `backbone` of older files.
void ReadBackbone(const JsonView& json, DetrConfig& config) {
  const JsonView nested = json["backbone_config"];
  const bool described = nested.present();
  if (described && nested["model_type"].String({"resnet", "timm_backbone"}) == "resnet") {
    Check(!json.Get("use_timm_backbone", false).Bool(), "{}: there is a backbone_config of transformers' ResNet, too",
          json["use_timm_backbone"].location());
    ReadConfig(nested, config.backbone);
    const JsonView maps = nested["out_features"];
    for (std::size_t stage = 0; config.masks && maps.present() && stage < maps.Items().size(); ++stage)
      Check(maps.Items().size() == 4 && maps.Items()[stage].String() == fmt::format("stage{}", stage + 1),
            "{}: masks are made of the maps of stage1, stage2, stage3 and stage4", maps.location());
    return;
  }
  const JsonView name = (described ? nested : json).Get("backbone", "resnet50");
  Check(described || json.Get("use_timm_backbone", true).Bool(), "{}: a backbone_config is needed, or timm's backbone",
        json.location());
  config.timm_backbone = name.String();
  config.backbone = ResnetOfTimm(name);
}

}  // namespace

void Describe(ConfigTable& table, DetrConfig& config) {
  table.Note("model_type", "detr");
  DescribeStacks(table, config, Activation::relu);
  if (table.reads()) {
    ReadBackbone(table.json(), config);
  } else if (!table.writes()) {
    Describe(table, config.backbone);
  } else {
    table.Note("use_timm_backbone", !config.timm_backbone.empty());
    if (config.timm_backbone.empty()) {
      Json backbone = WriteConfig(config.backbone);
      Json::Array maps;
      for (std::size_t stage = config.masks ? 1 : config.backbone.hidden.size(); stage <= config.backbone.hidden.size();
           ++stage)
        maps.push_back(fmt::format("stage{}", stage));
      backbone.Set("out_features", std::move(maps));
      table.Note("backbone_config", std::move(backbone));
    } else {
      table.Note("backbone", config.timm_backbone);
    }
  }
  table.Integer("num_channels", config.backbone.channels, "the number of channels", 1, 1024);
  table.Integer("num_queries", config.queries, "the number of queries", 1, 1 << 14);
  table.Choice("position_embedding_type", config.learned_positions, {{"sine", false}, {"learned", true}});
  table.Flag("auxiliary_loss", config.norm_between_layers);
  table.Only("dilation", false, "a dilated last stage");
  table.Number("class_cost", config.loss.class_cost, 0, 1e6);
  table.Number("bbox_cost", config.loss.box_cost, 0, 1e6);
  table.Number("giou_cost", config.loss.giou_cost, 0, 1e6);
  table.Number("bbox_loss_coefficient", config.loss.box_weight, 0, 1e6);
  table.Number("giou_loss_coefficient", config.loss.giou_weight, 0, 1e6);
  table.Number("eos_coefficient", config.loss.nothing_weight, 0, 1e6);
  table.Harmless({"activation_dropout", "backbone", "backbone_config", "backbone_kwargs", "classifier_dropout",
                  "decoder_layerdrop", "dice_loss_coefficient", "encoder_layerdrop", "init_xavier_std",
                  "mask_loss_coefficient", "max_position_embeddings", "num_hidden_layers", "scale_embedding",
                  "use_pretrained_backbone", "use_timm_backbone"});
  table.Rule(config.model % 4 == 0, "the model dimension must be a multiple of 4, for positions of rows and columns");
  table.Rule(!config.labels.empty(), "there must be a class");
  if (!config.masks) return;
  table.Rule(config.backbone.hidden.size() == 4, "masks need a backbone of 4 stages, not {}",
             config.backbone.hidden.size());
  // The group norms have 8 groups, or one per channel if there are fewer channels.
  for (const std::int64_t channels :
       {config.model + config.encoder_heads, config.model / 2, config.model / 4, config.model / 8, config.model / 16})
    table.Rule(channels >= 1 && channels % std::min<std::int64_t>(8, channels) == 0,
               "masks have {} channels in one of their layers, and need a multiple of 8, or 1 to 7", channels);
}

namespace {

std::unique_ptr<Detr> LoadDetr(const ModelFolder& files, const LoadModelOptions& options) {
  DetrConfig config;
  config.masks = files.weights.contains("mask_head.lay1.weight");
  config.labels = ReadLabels(files.config);
  if (constexpr const char* older = "model.backbone.position_embedding";
      files.weights.contains((config.masks ? "detr." : "") + std::string(older) + ".row_embeddings.weight"))
    config.position_scope = older;
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Detr>(config);
  LoadWeights(files, options, model->parameters(), {.unused = BatchCounts(files)});
  return model;
}

}  // namespace

namespace families {
extern const Family detr = MakeFamily<Detr, LoadDetr>({"detr"});
}  // namespace families

void Detr::Save(const std::string& folder, Compute compute) const {
  Json json = WriteConfig(config_);
  json.Set("architectures", Json::Array{config_.masks ? "DetrForSegmentation" : "DetrForObjectDetection"});
  // Transformers accepts only integers for these keys.
  for (const char* key : {"class_cost", "bbox_cost", "giou_cost", "bbox_loss_coefficient", "giou_loss_coefficient"})
    if (const double value = *json.Find(key)->As<double>(); value == std::floor(value))
      json.Set(key, static_cast<std::int64_t>(value));
  WriteLabels(json, config_.labels);
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

std::unique_ptr<Detr> Refit(const Detr& model, const std::vector<std::string>& labels, std::int64_t queries,
                            std::uint64_t seed) {
  DetrConfig config = model.config();
  config.masks = false;
  config.labels = labels;
  config.queries = queries;
  auto made = std::make_unique<Detr>(config);
  made->parameters().Initialize(seed);
  made->parameters().Unpack();
  auto kept = model.parameters().all().begin();  // same order as in `made`, with the mask head's parameters at the end
  for (const Parameter& parameter : made->parameters().all()) {
    const Parameter& was = *kept++;
    Ensure(was.names.front().ends_with(parameter.names.front()), "{} is not kept", was.names.front());
    const bool others = labels != model.labels() && parameter.names.front().starts_with("class_labels_classifier.");
    if (!others && parameter.shape == was.shape) parameter.value.CopyFrom(was.value);
  }
  made->parameters().Pack();
  return made;
}

}  // namespace headlight
