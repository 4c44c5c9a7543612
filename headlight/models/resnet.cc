#include "headlight/models/resnet.h"

#include <array>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include "headlight/io/config_table.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/pooling.h"

namespace headlight {
namespace {

constexpr std::int64_t kReduction = 4;  // ratio of channels between a bottleneck's convolutions

// Returns a square convolution. It keeps the size of a feature map if its stride is 1.
NormedConvolution Square(const Scope& convolution, const Scope& norm, std::int64_t inputs, std::int64_t outputs,
                         std::int64_t side, std::int64_t stride, BatchStatistics statistics) {
  return {convolution,
          norm,
          inputs,
          outputs,
          {.kernel = {side, side}, .stride = {stride, stride}, .padding = {side / 2, side / 2}},
          statistics};
}

}  // namespace

ResnetLayer::ResnetLayer(const Scope& scope, const ResnetConfig& config, ResnetNames names, BatchStatistics statistics,
                         std::int64_t inputs, std::int64_t outputs, std::int64_t stride)
    : activation_(config.activation) {
  const bool timm = names == ResnetNames::timm;
  const auto add = [&](std::int64_t from, std::int64_t to, std::int64_t side, std::int64_t its_stride) {
    const std::int64_t index = std::ssize(convolutions_);
    const Scope place = scope / "layer" / index;
    convolutions_.push_back(Square(timm ? scope / fmt::format("conv{}", index + 1) : place / "convolution",
                                   timm ? scope / fmt::format("bn{}", index + 1) : place / "normalization", from, to,
                                   side, its_stride, statistics));
  };
  if (config.bottleneck) {
    const std::int64_t reduced = outputs / kReduction;
    const bool first = config.downsample_in_bottleneck;
    add(inputs, reduced, 1, first ? stride : 1);
    add(reduced, reduced, 3, first ? 1 : stride);
    add(reduced, outputs, 1, 1);
  } else {
    add(inputs, outputs, 3, stride);
    add(outputs, outputs, 3, 1);
  }
  if (inputs == outputs && stride == 1) return;
  const Scope place = scope / (timm ? "downsample" : "shortcut");
  shortcut_ = Square(place / (timm ? "0" : "convolution"), place / (timm ? "1" : "normalization"), inputs, outputs, 1,
                     stride, statistics);
}

FeatureMaps ResnetLayer::operator()(Context& context, const FeatureMaps& x) const {
  const Tensor residual = shortcut_ ? (*shortcut_)(context, x).rows : x.rows;
  FeatureMaps y = x;
  for (std::size_t i = 0; i + 1 < convolutions_.size(); ++i) y = convolutions_[i](context, y, Activation::relu);
  return convolutions_.back()(context, y, activation_, residual);
}

ResnetBackbone::ResnetBackbone(const Scope& scope, const ResnetConfig& config, ResnetNames names,
                               BatchStatistics statistics)
    : activation_(config.activation),
      stem_(names == ResnetNames::timm
                ? Square(scope / "conv1", scope / "bn1", config.channels, config.embedding, 7, 2, statistics)
                : Square(scope / "embedder" / "embedder" / "convolution",
                         scope / "embedder" / "embedder" / "normalization", config.channels, config.embedding, 7, 2,
                         statistics)) {
  std::int64_t inputs = config.embedding;
  for (std::size_t stage = 0; stage < config.hidden.size(); ++stage) {
    const auto index = static_cast<std::int64_t>(stage);
    const Scope layers = names == ResnetNames::timm ? scope / fmt::format("layer{}", index + 1)
                                                    : scope / "encoder" / "stages" / index / "layers";
    std::deque<ResnetLayer>& all = stages_.emplace_back();
    for (std::int64_t layer = 0; layer < config.depths[stage]; ++layer) {
      const bool halves = layer == 0 && (stage > 0 || config.downsample_in_first_stage);
      all.emplace_back(layers / layer, config, names, statistics, inputs, config.hidden[stage], halves ? 2 : 1);
      inputs = config.hidden[stage];
    }
  }
}

std::vector<FeatureMaps> ResnetBackbone::operator()(Context& context, const FeatureMaps& images) const {
  std::vector<FeatureMaps> maps;
  maps.push_back(
      ops::MaxPool(stem_(context, images, activation_), {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}));
  for (const std::deque<ResnetLayer>& stage : stages_) {
    FeatureMaps x = maps.back();
    for (const ResnetLayer& layer : stage) x = layer(context, x);
    maps.push_back(std::move(x));
  }
  return maps;
}

Resnet::Resnet(const ResnetConfig& config, DType dtype)
    : ImageEncoder(dtype), config_(Checked(config)), backbone_(Scope(parameters_) / config.scope, config) {
  // Images of any size are allowed. Published checkpoints were trained on images of 224 x 224 pixels.
  limits_ = {.image = {224, 224},
             .patch = {1, 1},
             .channels = config.channels,
             .special = 0,
             .model = config.hidden.back(),
             .batch_statistics = true};
  heads_ = {.pooler = true, .classes = config.classes};
  labels_ = config.labels;
  if (config.classes)
    classes_.emplace(Scope(parameters_), std::vector<std::string>{"classifier.1"}, config.hidden.back(),
                     std::ssize(config.labels));
}

EncodedImages Resnet::Encode(Context& context, std::span<const Tensor> images,
                             std::span<const std::uint8_t> masked) const {
  Check(masked.empty(), "{}: this model has no mask token", parameters_.source());
  FeatureMaps maps = backbone_(context, MapsOf(images, config_.channels, parameters_.dtype())).back();
  std::vector<std::int32_t> lengths;
  for (const Grid& grid : maps.grids) lengths.push_back(static_cast<std::int32_t>(grid.cells()));
  return {std::move(maps.rows), PackedSequences(lengths), std::move(maps.grids)};
}

Tensor Resnet::Pool(Context&, const EncodedImages& encoded) const {
  return ops::MeanOfMaps({encoded.hidden, encoded.grids});
}

Tensor Resnet::ClassLogits(Context& context, const EncodedImages& encoded) const {
  Check(classes_.has_value(), "{}: this model has no classes", parameters_.source());
  return (*classes_)(context, Pool(context, encoded));
}

Tensor Resnet::Pixels(Context&, const EncodedImages&) const {
  Fail("{}: this model has no head for masked pixels", parameters_.source());
}

Json::Object Resnet::Description() const {
  Json::Object description = {
      {"layers", std::accumulate(config_.depths.begin(), config_.depths.end(), std::int64_t{0})},
      {"stride", std::int64_t{config_.downsample_in_first_stage ? 4 : 2} << std::ssize(config_.hidden)},
      {"channels", limits_.channels},
      {"model", limits_.model}};
  if (!labels_.empty()) description.push_back({"labels", labels_});
  return description;
}

namespace {

constexpr std::int64_t kMostLayers = 1024;

}  // namespace

void Describe(ConfigTable& table, ResnetConfig& config) {
  table.Note("model_type", "resnet");
  table.Integer("num_channels", config.channels, "the number of channels", 1, 1024);
  table.Size("embedding_size", config.embedding, "the channels of the stem");
  table.Integers("hidden_sizes", config.hidden, kLargestSize);
  table.Integers("depths", config.depths, kMostLayers);
  table.Choice("layer_type", config.bottleneck, {{"bottleneck", true}, {"basic", false}});
  table.Choice("hidden_act", config.activation, kActivationNames);
  table.Flag("downsample_in_first_stage", config.downsample_in_first_stage);
  table.Flag("downsample_in_bottleneck", config.downsample_in_bottleneck);
  table.Harmless({"out_features", "out_indices", "stage_names"});  // settings for use as a backbone
  table.Rule(!config.hidden.empty() && config.hidden.size() == config.depths.size(),
             "hidden_sizes and depths must have a number for each stage, not {} and {}", config.hidden.size(),
             config.depths.size());
  table.Rule(std::accumulate(config.depths.begin(), config.depths.end(), std::int64_t{0}) <= kMostLayers,
             "depths: there can be at most {} layers in all", kMostLayers);
  for (const std::int64_t hidden : config.hidden)
    table.Rule(!config.bottleneck || hidden >= kReduction, "hidden_sizes: a bottleneck needs {} channels, not {}",
               kReduction, hidden);
  if (config.classes) CheckLabels(config.labels);
}

namespace {

struct TimmBackbone {
  const char* name;
  std::vector<std::int64_t> depths;
  bool bottleneck;
};

const std::array<TimmBackbone, 5>& TimmBackbones() {
  static const std::array<TimmBackbone, 5> known = {{{"resnet18", {2, 2, 2, 2}, false},
                                                     {"resnet34", {3, 4, 6, 3}, false},
                                                     {"resnet50", {3, 4, 6, 3}, true},
                                                     {"resnet101", {3, 4, 23, 3}, true},
                                                     {"resnet152", {3, 8, 36, 3}, true}}};
  return known;
}

}  // namespace

ResnetConfig ResnetOfTimm(const JsonView& name) {
  const std::string given = name.String();
  for (const TimmBackbone& backbone : TimmBackbones())
    if (given.substr(0, given.find('.')) == backbone.name)  // without a suffix such as .a1_in1k
      return {.hidden = backbone.bottleneck ? std::vector<std::int64_t>{256, 512, 1024, 2048}
                                            : std::vector<std::int64_t>{64, 128, 256, 512},
              .depths = backbone.depths,
              .bottleneck = backbone.bottleneck};
  Fail("{}: {} is not supported: only ResNets are, resnet18 to resnet152", name.location(), Quoted(given));
}

std::vector<std::string> BatchCounts(const ModelFolder& files) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : files.weights.tensors())
    if (name.ends_with(".num_batches_tracked")) names.push_back(name);
  return names;
}

namespace {

std::unique_ptr<Resnet> LoadResnet(const ModelFolder& files, const LoadModelOptions& options) {
  ResnetConfig config;
  if (!files.weights.contains("resnet.embedder.embedder.convolution.weight")) config.scope = "";
  config.classes = files.weights.contains("classifier.1.weight");
  if (config.classes) config.labels = ReadLabels(files.config);
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Resnet>(config);
  LoadWeights(files, options, model->parameters(), {.unused = BatchCounts(files)});
  return model;
}

}  // namespace

std::unique_ptr<ImageEncoder> Resnet::WithClasses(const std::vector<std::string>& labels) const {
  ResnetConfig config = config_;
  config.classes = !labels.empty();
  config.labels = labels;
  config.scope = "resnet";
  return std::make_unique<Resnet>(config);
}

namespace families {
extern const Family resnet = MakeFamily<Resnet, LoadResnet>({"resnet"});
}  // namespace families

void Resnet::Save(const std::string& folder, Compute compute) const {
  Json json = WriteConfig(config_);
  json.Set("architectures", Json::Array{config_.classes ? "ResNetForImageClassification" : "ResNetModel"});
  WriteLabels(json, config_.labels);
  // Transformers requires a batch count for each variance, but does not use it.
  static constexpr std::int64_t kNoBatches = 0;
  std::vector<StoredTensor> counts;
  for (const Parameter& parameter : parameters_.all())
    if (const std::string& name = parameter.names.front(); name.ends_with(".running_var"))
      counts.push_back({name.substr(0, name.rfind('.')) + ".num_batches_tracked",
                        StoredType::i64,
                        {},
                        std::as_bytes(std::span(&kNoBatches, 1))});
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute, std::move(counts));
}

}  // namespace headlight
