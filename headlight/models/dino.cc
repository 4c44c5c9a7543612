#include "headlight/models/dino.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "headlight/io/config_table.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/activation_names.h"
#include "headlight/models/files/image_settings.h"
#include "headlight/nn/drop_path.h"
#include "headlight/nn/labels.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/view.h"
#include "headlight/ops/weighted_rows.h"

namespace headlight {
namespace {

// Returns the inner size of the feed-forward network. With a gate, v2 uses two thirds of the size, rounded up to a
// multiple of 8, because a gate adds a third matrix.
std::int64_t InnerSize(const DinoConfig& config) {
  if (config.kind == DinoKind::v3) return config.ffn;
  const std::int64_t size = config.model * config.ffn_factor;
  return config.gated ? (size * 2 / 3 + 7) / 8 * 8 : size;
}

std::variant<FeedForward, GatedFeedForward> FeedForwardOf(const Scope& scope, const DinoConfig& config) {
  const bool v3 = config.kind == DinoKind::v3;
  if (!config.gated)
    return FeedForward(
        scope, config.model, InnerSize(config), config.activation,
        v3 ? std::array<std::string, 2>{"up_proj", "down_proj"} : std::array<std::string, 2>{"fc1", "fc2"},
        /*stored_transposed=*/false, config.ffn_biases);
  GatedFeedForwardConfig gated = {.model = config.model, .ffn = InnerSize(config), .biases = config.ffn_biases};
  if (v3) {
    gated.activation = config.activation;
  } else {
    gated.inner = {"weights_in"};
    gated.outer = "weights_out";
  }
  return GatedFeedForward(scope, gated);
}

MultiHeadAttentionConfig AttentionOf(const DinoConfig& config) {
  AttentionNames names = {"attention.query", "attention.key", "attention.value", "output.dense"};
  if (config.kind == DinoKind::v3) names = {"q_proj", "k_proj", "v_proj", "o_proj"};
  return {.model = config.model,
          .heads = config.heads,
          .dropout = config.attention_dropout,
          .names = std::move(names),
          .biases = config.biases,
          .key_bias = config.key_bias,
          .output_bias = config.output_bias};
}

ImageEmbeddingConfig EmbeddingOf(const DinoConfig& config) {
  const bool v3 = config.kind == DinoKind::v3;
  ImageEmbeddingConfig embedding{
      .model = config.model,
      .image = config.image,
      .patch = config.patch,
      .channels = config.channels,
      .dropout = config.dropout,
      .positions = !v3,
      .interpolation = config.kind == DinoKind::v2_registers ? Interpolation::cubic_antialiased : Interpolation::cubic};
  if (config.kind != DinoKind::v2) embedding.special.push_back({"register_tokens", config.registers, false});
  if (config.mask) embedding.mask = v3 ? Shape{1, 1, config.model} : Shape{1, config.model};
  if (v3) embedding.projection = "patch_embeddings";
  return embedding;
}

const Parameter& DeclareScale(const Scope& scope, const DinoConfig& config) {
  return scope.Declare("lambda1", {config.model}, Initialization::Constant(config.layer_scale));
}

}  // namespace

DinoLayer::DinoLayer(const Scope& scope, const DinoConfig& config, int layer)
    : layer_(layer),
      layers_(config.layers),
      attention_norm_(scope / "norm1", config.model, config.norm_epsilon),
      attention_(scope / "attention", AttentionOf(config), AttentionKind::encoder_self, layer),
      attention_scale_(&DeclareScale(scope / "layer_scale1", config)),
      feed_forward_norm_(scope / "norm2", config.model, config.norm_epsilon),
      feed_forward_(FeedForwardOf(scope / "mlp", config)),
      feed_forward_scale_(&DeclareScale(scope / "layer_scale2", config)) {}

Tensor DinoLayer::operator()(Context& context, const Tensor& x, const Sequences& images,
                             const ops::RotaryAngles* angles) const {
  const Tensor attended = PreNorm(context, x, attention_norm_, 0, [&](Context&, const Tensor& input) {
    const Tensor scaled =
        ops::Multiply(attention_.Self(context, input, images, /*causal=*/false, {}, {.angles = angles}),
                      context.Use(*attention_scale_));
    return DropPath(context, scaled, images, layer_, layers_);
  });
  return PreNorm(context, attended, feed_forward_norm_, 0, [&](Context&, const Tensor& input) {
    const Tensor changed = std::visit([&](const auto& network) { return network(context, input); }, feed_forward_);
    const Tensor scaled = ops::Multiply(changed, context.Use(*feed_forward_scale_));
    return DropPath(context, scaled, images, layer_, layers_);
  });
}

Dino::Dino(const DinoConfig& config, DType dtype)
    : ImageEncoder(dtype),
      config_(Checked(config)),
      embedding_(Scope(parameters_) / config.scope / "embeddings", EmbeddingOf(config)) {
  const bool v3 = config.kind == DinoKind::v3;
  const Scope root(parameters_), encoder = root / config.scope;
  limits_ = embedding_.limits();
  labels_ = config.labels;
  heads_ = {.pooler = true, .classes = config.classes};
  for (int layer = 0; layer < config.layers; ++layer)
    layers_.emplace_back(encoder / (v3 ? "layer" : "encoder.layer") / layer, config, layer);
  norm_.emplace(encoder / (v3 ? "norm" : "layernorm"), config.model, config.norm_epsilon);
  if (config.classes)
    classes_.emplace(root, std::vector<std::string>{"classifier"}, 2 * config.model, std::ssize(config.labels));
}

// Returns the rotary angles of v3. Half of a patch's angles encode the vertical position of its center, and half the
// horizontal position. Positions range from -1 to 1 over the image. The frequencies decrease from 1 by powers of the
// base. Special tokens have index 0, which means no rotation.
ops::RotaryAngles Dino::Angles(const EncodedImages& encoded) const {
  const std::int64_t head_dim = config_.model / config_.heads, each = head_dim / 4;
  ops::RotaryAngles angles;
  std::vector<double> all(static_cast<std::size_t>(head_dim / 2));
  std::vector<std::pair<Grid, std::int32_t>> known;  // each grid and the index of its first patch
  std::int32_t places = 1;
  const auto append = [&](std::int64_t index, std::int64_t count) {
    const double coordinate = 2 * (static_cast<double>(index) + 0.5) / static_cast<double>(count) - 1;
    for (std::int64_t i = 0; i < each; ++i)
      all.push_back(2 * std::numbers::pi * coordinate *
                    std::pow(config_.rotary_base, -4 * static_cast<double>(i) / static_cast<double>(head_dim)));
  };
  for (const Grid& grid : encoded.grids) {
    auto found = std::ranges::find(known, grid, &std::pair<Grid, std::int32_t>::first);
    if (found == known.end()) {
      found = known.insert(found, {grid, places});
      places += static_cast<std::int32_t>(grid.cells());
      for (std::int64_t y = 0; y < grid.height; ++y)
        for (std::int64_t x = 0; x < grid.width; ++x) {
          append(y, grid.height);
          append(x, grid.width);
        }
    }
    angles.indices.insert(angles.indices.end(), static_cast<std::size_t>(limits_.special), 0);
    for (std::int32_t i = 0; i < grid.cells(); ++i) angles.indices.push_back(found->second + i);
  }
  angles.cosines = Tensor::Empty({places, head_dim / 2}, parameters_.dtype());
  angles.sines = Tensor::Empty({places, head_dim / 2}, parameters_.dtype());
  Dispatch(parameters_.dtype(), [&]<typename T>(T) {
    std::ranges::transform(all, angles.cosines.data<T>(), [](double angle) { return static_cast<T>(std::cos(angle)); });
    std::ranges::transform(all, angles.sines.data<T>(), [](double angle) { return static_cast<T>(std::sin(angle)); });
  });
  return angles;
}

EncodedImages Dino::Encode(Context& context, std::span<const Tensor> images,
                           std::span<const std::uint8_t> masked) const {
  EncodedImages encoded = embedding_(context, images, masked);
  const bool rotary = config_.kind == DinoKind::v3;
  const ops::RotaryAngles angles = rotary ? Angles(encoded) : ops::RotaryAngles{};
  for (const DinoLayer& layer : layers_)
    encoded.hidden = layer(context, encoded.hidden, encoded.images, rotary ? &angles : nullptr);
  encoded.hidden = (*norm_)(context, encoded.hidden);
  return encoded;
}

Json::Object Dino::LayerSizes() const {
  Json::Object sizes = SizesOfStack(config_);
  sizes.back().value = InnerSize(config_);
  return sizes;
}

Json::Object Dino::Description() const {
  Json::Object description = ImageEncoder::Description();
  if (config_.registers > 0) description.push_back({"registers", config_.registers});
  return description;
}

Tensor Dino::Pool(Context&, const EncodedImages& encoded) const { return encoded.RowOfEach(0); }

Tensor Dino::ClassLogits(Context& context, const EncodedImages& encoded) const {
  Check(classes_.has_value(), "{}: this model has no classes", parameters_.source());
  // Each image has two rows: the class token's state, and the mean of the patches' states.
  std::int64_t terms = 1;
  for (const Grid& grid : encoded.grids) terms = std::max(terms, grid.cells());
  std::vector<std::int32_t> rows;
  std::vector<double> weights;
  for (const Sequence& image : encoded.images)
    for (const auto& [first, count] : {std::pair(0, 1), std::pair(limits_.special, image.length - limits_.special)})
      for (std::int32_t i = 0; i < terms; ++i) {
        rows.push_back(image.begin + first + (i < count ? i : 0));
        weights.push_back(i < count ? 1.0 / count : 0);
      }
  const Tensor both = ops::WeightedRows(encoded.hidden, rows, weights, terms);
  return (*classes_)(context, ops::Reshape(both, {std::ssize(encoded.images), 2 * config_.model}));
}

std::unique_ptr<ImageEncoder> Dino::WithClasses(const std::vector<std::string>& labels) const {
  const bool v3 = config_.kind == DinoKind::v3;
  Check(labels.empty() || !v3, "{}: DINOv3 has no head for classes", parameters_.source());
  DinoConfig config = config_;
  config.classes = !labels.empty();
  config.labels = labels;
  config.scope = v3 ? "" : config_.kind == DinoKind::v2 ? "dinov2" : "dinov2_with_registers";
  return std::make_unique<Dino>(config);
}

Tensor Dino::Pixels(Context&, const EncodedImages&) const {
  Fail("{}: this model has no head for masked pixels", parameters_.source());
}

void Describe(ConfigTable& table, DinoConfig& config) {
  table.Choice(
      "model_type", config.kind,
      {{"dinov2", DinoKind::v2}, {"dinov2_with_registers", DinoKind::v2_registers}, {"dinov3_vit", DinoKind::v3}});
  const bool v3 = config.kind == DinoKind::v3;
  // These defaults differ between versions.
  if (config.kind != DinoKind::v2) table.Default(config.patch, {16, 16});
  if (config.kind == DinoKind::v2_registers) table.Default(config.registers, 4);
  if (v3) {
    table.Default(config.model, 384);
    table.Default(config.heads, 6);
    table.Default(config.norm_epsilon, 1e-5);
    table.Default(config.key_bias, false);
  }
  table.Size("hidden_size", config.model, "the model dimension");
  table.Layers("num_hidden_layers", config.layers);
  table.Heads("num_attention_heads", config.heads, config.model);
  table.Choice("hidden_act", config.activation, kActivationNames);
  table.Epsilon("layer_norm_eps", config.norm_epsilon);
  table.Number("layerscale_value", config.layer_scale, 0, 1e3);
  DescribeImages(table, config.image, config.patch, config.channels);
  if (config.kind != DinoKind::v2)
    table.Integer("num_register_tokens", config.registers, "the number of registers", 0, 1024);
  if (v3) {
    table.Size("intermediate_size", config.ffn, "the ffn dimension");
    table.Flag("use_gated_mlp", config.gated);
    table.Probability("attention_dropout", config.attention_dropout);
    table.Number("rope_theta", config.rotary_base, 1e-3, 1e9);
    table.Flag("query_bias", config.biases);
    table.Flag("key_bias", config.key_bias);
    bool value_bias = config.biases;
    table.Flag("value_bias", value_bias);
    if (table.reads())
      Check(value_bias == config.biases, "{}: it must be as query_bias", table.json()["value_bias"].location());
    table.Flag("proj_bias", config.output_bias);
    table.Flag("mlp_bias", config.ffn_biases);
    // These settings change the patches' coordinates at random in Transformers' training, which is not implemented.
    table.Harmless({"pos_embed_jitter", "pos_embed_rescale", "pos_embed_shift"});
    table.Rule(config.biases || !config.key_bias, "key_bias without query_bias is not supported");
    table.Rule(config.model / config.heads % 4 == 0,
               "rotary positions of two coordinates come in fours: heads of {} features", config.model / config.heads);
    table.Rule(!config.classes, "DINOv3 has no head for classes");
  } else {
    table.Integer("mlp_ratio", config.ffn_factor, "the ffn's factor", 1, 1024);
    table.Flag("use_swiglu_ffn", config.gated);
    table.Probability("hidden_dropout_prob", config.dropout);
    table.Probability("attention_probs_dropout_prob", config.attention_dropout);
    table.Flag("qkv_bias", config.biases);
    if (table.reads()) config.key_bias = config.biases;
    if (config.kind == DinoKind::v2) table.Flag("use_mask_token", config.mask);
  }
  // These settings only affect training, or the use as a backbone.
  table.Harmless(
      {"apply_layernorm", "drop_path_rate", "out_features", "out_indices", "reshape_hidden_states", "stage_names"});
  if (config.classes) CheckLabels(config.labels);
}

namespace {

const char* NameOf(DinoKind kind) {
  return kind == DinoKind::v3 ? "DINOv3ViT" : kind == DinoKind::v2 ? "Dinov2" : "Dinov2WithRegisters";
}

std::unique_ptr<Dino> LoadDino(const ModelFolder& files, const LoadModelOptions& options) {
  DinoConfig config;
  config.scope = files.config["model_type"].String();
  if (!files.weights.contains(config.scope + ".embeddings.cls_token")) config.scope = "";
  config.classes = files.weights.contains("classifier.weight");
  if (config.classes) config.labels = ReadLabels(files.config);
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Dino>(config);
  LoadWeights(files, options, model->parameters(), {});
  return model;
}

}  // namespace

namespace families {
extern const Family dino = MakeFamily<Dino, LoadDino>({"dinov2", "dinov2_with_registers", "dinov3_vit"});
}  // namespace families

void Dino::Save(const std::string& folder, Compute compute) const {
  Json json = WriteConfig(config_);
  json.Set("architectures",
           Json::Array{std::string(NameOf(config_.kind)) + (config_.classes ? "ForImageClassification" : "Model")});
  WriteLabels(json, config_.labels);
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight
