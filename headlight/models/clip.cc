#include "headlight/models/clip.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/dual_encoder_files.h"
#include "headlight/ops/embedding.h"

namespace headlight {

ClipLayers::ClipLayers(const Scope& scope, const ClipTowerConfig& config, bool causal) : causal_(causal) {
  const AttentionKind kind = causal ? AttentionKind::decoder_self : AttentionKind::encoder_self;
  for (int layer = 0; layer < config.layers; ++layer) {
    const Scope its = scope / layer;
    layers_.push_back(
        {LayerNorm(its / "layer_norm1", config.model, config.norm_epsilon),
         MultiHeadAttention(its / "self_attn",
                            {.model = config.model, .heads = config.heads, .dropout = config.attention_dropout}, kind,
                            layer),
         LayerNorm(its / "layer_norm2", config.model, config.norm_epsilon),
         FeedForward(its / "mlp", config.model, config.ffn, config.activation)});
  }
}

Tensor ClipLayers::operator()(Context& context, Tensor x, const Sequences& sequences) const {
  for (const Layer& layer : layers_) {
    x = PreNorm(context, x, layer.attention_norm, 0, [&](Context&, const Tensor& input) {
      return layer.attention.Self(context, input, sequences, causal_);
    });
    x = PreNorm(context, x, layer.feed_forward_norm, 0, layer.feed_forward);
  }
  return x;
}

ClipTextTower::ClipTextTower(const Scope& scope, const ClipTextTowerConfig& config, double token_deviation,
                             double position_deviation, bool causal)
    : embedding_{TokenEmbedding(scope / "embeddings.token_embedding", config.vocabulary, config.model,
                                Initialization::Normal(token_deviation), /*scores=*/false),
                 1,
                 PositionalEncoding::Learned(scope / "embeddings.position_embedding", config.positions, config.model, 0,
                                             position_deviation),
                 0},
      layers_(scope / "encoder.layers", config, causal),
      norm_(scope / "final_layer_norm", config.model, config.norm_epsilon) {}

Tensor ClipTextTower::operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  return norm_(context, layers_(context, embedding_(context, ids, texts), texts));
}

namespace {

ImageEmbeddingConfig EmbeddingOf(const ClipImageConfig& config) {
  return {.model = config.model,
          .image = config.image,
          .patch = config.patch,
          .channels = config.channels,
          .special = {{"class_embedding"}},
          .waves = 1,  // higher than the default, because CLIP's pixel values and projection are also larger
          .projection = "patch_embedding",
          .bias = false,
          .flat = true,
          .table = "position_embedding.weight"};
}

// Initializes a tower. OpenAI's code uses this initialization only for the text tower.
void InitializeTower(Parameters& parameters, const std::string& scope, const ClipTowerConfig& config) {
  const double model = static_cast<double>(config.model), layers = config.layers;
  for (Parameter& parameter : parameters.all()) {
    const std::string& name = parameter.names.front();
    if (!name.starts_with(Prefix(scope)) || !parameter.role.in_products) continue;
    const bool residual = name.ends_with("out_proj.weight") || name.ends_with("fc2.weight");
    const bool inner = name.ends_with("fc1.weight");
    parameter.initialization = Initialization::Normal(std::sqrt((residual ? 0.5 / layers : inner ? 0.5 : 1) / model));
  }
}

}  // namespace

Clip::Clip(const ClipConfig& config, DType dtype) : DualEncoder(dtype), config_(Checked(config)) {
  const Scope root(parameters_);
  const std::int64_t vector = config.vector.value_or(config.text ? config.text->model : config.image->model);
  limits_.vector = vector;
  const auto projection = [&](const char* name, const ClipTowerConfig& tower) {
    std::optional<Linear> made;
    if (!config.vector) return made;
    made.emplace(root, std::vector<std::string>{name}, tower.model, vector, /*bias=*/false);
    parameters_.all().back().initialization = Initialization::Normal(1 / std::sqrt(static_cast<double>(tower.model)));
    return made;
  };
  if (config.text) {
    const ClipTextConfig& text = *config.text;
    texts_.emplace(root / config.text_scope, text, 0.02, 0.01, /*causal=*/true);
    InitializeTower(parameters_, config.text_scope, text);
    text_projection_ = projection("text_projection", text);
    limits_.vocabulary = text.vocabulary;
    limits_.positions = text.positions;
    limits_.text_model = text.model;
    limits_.causal = true;
  }
  if (config.image) {
    const ClipImageConfig& image = *config.image;
    const Scope scope = root / config.image_scope;
    images_.emplace(ImageTower{ImageEmbedding(scope / "embeddings", EmbeddingOf(image)),
                               LayerNorm(scope / "pre_layrnorm", image.model, image.norm_epsilon),
                               ClipLayers(scope / "encoder.layers", image, /*causal=*/false),
                               LayerNorm(scope / "post_layernorm", image.model, image.norm_epsilon)});
    InitializeTower(parameters_, config.image_scope, image);
    image_projection_ = projection("visual_projection", image);
    limits_.images = images_->embedding.limits();
  }
  if (config.text && config.image)
    logit_scale_ = &root.Declare("logit_scale", {}, Initialization::Constant(config.logit_scale));
}

EncodedImages Clip::EncodeImages(Context& context, std::span<const Tensor> images) const {
  CheckImages();
  EncodedImages encoded = images_->embedding(context, images);
  encoded.hidden = images_->layers(context, images_->first_norm(context, encoded.hidden), encoded.images);
  return encoded;
}

Tensor Clip::PoolImages(Context& context, const EncodedImages& encoded) const {
  CheckImages();
  return images_->pooled_norm(context, encoded.RowOfEach(0));
}

Tensor Clip::EncodeTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  CheckTexts();
  return (*texts_)(context, ids, texts);
}

// Uses the first token of a text that has no end token, as in Transformers.
Tensor Clip::PoolTexts(Context&, const Tensor& hidden, std::span<const std::int32_t> ids,
                       const Sequences& texts) const {
  CheckTexts();
  const std::int32_t end = config_.text->end_id;
  std::vector<std::int32_t> rows;
  for (const Sequence& text : texts) {
    Check(text.length > 0, "a text has no tokens");
    const auto own = ids.subspan(static_cast<std::size_t>(text.begin), static_cast<std::size_t>(text.length));
    const auto found = end == kLargestIdEnds ? std::ranges::max_element(own) : std::ranges::find(own, end);
    rows.push_back(text.begin + (found == own.end() ? 0 : static_cast<std::int32_t>(found - own.begin())));
  }
  return ops::Embedding(hidden, rows);
}

void Describe(ConfigTable& table, ClipTextConfig& config) {
  table.Note("model_type", "clip_text_model");
  DescribeTextTower(table, config);
  table.Integer("eos_token_id", config.end_id, "the id of the end", 0, kLargestSize);
}

void Describe(ConfigTable& table, ClipImageConfig& config) {
  table.Note("model_type", "clip_vision_model");
  DescribeImageTower(table, config);
}

void Describe(ConfigTable& table, ClipConfig& config) {
  table.Note("model_type", "clip");
  std::int64_t vector = config.vector.value_or(1);
  table.Size("projection_dim", vector, "the size of a vector");
  if (config.vector) config.vector = vector;
  table.Number("logit_scale_init_value", config.logit_scale, -100, 100);
  DescribeTowers(table, config);
  table.Rule(config.vector || !config.text || !config.image, "two towers need a projection into one space");
}

namespace {

std::unique_ptr<Clip> LoadClip(const ModelFolder& files, const LoadModelOptions& options) {
  ClipConfig config = ReadDualConfig<ClipConfig>(files, options.dropout);
  const char* const projection = config.text ? "text_projection.weight" : "visual_projection.weight";
  if (!config.text || !config.image) {
    config.vector.reset();
    if (files.weights.contains(projection))
      config.vector = files.config.Get("projection_dim", 512).Integer(1, kLargestSize);
  }
  auto model = std::make_unique<Clip>(config);
  // Older folders contain these buffers.
  LoadWeights(files, options, model->parameters(),
              {.unused = {"text_model.embeddings.position_ids", "vision_model.embeddings.position_ids"}});
  return model;
}

}  // namespace

namespace families {
extern const Family clip = MakeFamily<Clip, LoadClip>({"clip", "clip_text_model", "clip_vision_model"});
}  // namespace families

Json::Object Clip::LayerSizes() const {
  if (!config_.image) return SizesOfStack(*config_.text);
  if (!config_.text) return SizesOfStack(*config_.image);
  Json::Object sizes = SizesOfPart("image", *config_.image);
  AddMissing(sizes, SizesOfPart("text", *config_.text));
  return sizes;
}

void Clip::Save(const std::string& folder, Compute compute) const {
  Json json = WriteDualConfig(config_, "CLIP");
  if (config_.vector && !(config_.text && config_.image)) {
    json.Set("projection_dim", *config_.vector);
    json.Set("architectures",
             Json::Array{config_.text ? "CLIPTextModelWithProjection" : "CLIPVisionModelWithProjection"});
  }
  SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
}

}  // namespace headlight
