#include "headlight/models/siglip.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/dual_encoder_files.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

ImageEmbeddingConfig EmbeddingOf(const SiglipImageConfig& config) {
  return {.model = config.model,
          .image = config.image,
          .patch = config.patch,
          .channels = config.channels,
          .special = {},
          .projection = "patch_embedding",
          .flat = true,
          .table = "position_embedding.weight"};
}

}  // namespace

Siglip::Siglip(const SiglipConfig& config, DType dtype) : DualEncoder(dtype), config_(Checked(config)) {
  const Scope root(parameters_);
  limits_.scores = Scores::sigmoid;
  if (config.text) {
    const SiglipTextConfig& text = *config.text;
    const Scope scope = root / config.text_scope;
    limits_.vector = text.vector.value_or(text.model);
    const double deviation = 1 / std::sqrt(static_cast<double>(text.model));
    texts_.emplace(TextTower{ClipTextTower(scope, text, deviation, deviation, /*causal=*/false),
                             Linear(scope, {"head"}, text.model, limits_.vector)});
    limits_.vocabulary = text.vocabulary;
    limits_.positions = text.positions;
    limits_.filled = static_cast<std::int32_t>(text.positions);
    limits_.text_model = text.model;
  }
  if (config.image) {
    const SiglipImageConfig& image = *config.image;
    const Scope scope = root / config.image_scope, head = scope / "head", attention = head / "attention";
    limits_.vector = image.model;
    ImageEmbedding embedding(scope / "embeddings", EmbeddingOf(image));
    ClipLayers layers(scope / "encoder.layers", image, /*causal=*/false);
    LayerNorm norm(scope / "post_layernorm", image.model, image.norm_epsilon);
    images_.emplace(
        ImageTower{std::move(embedding), std::move(layers), norm,
                   AttentionPool{&head.Declare("probe", {1, 1, image.model}, Initialization::Normal(0.02)),
                                 &attention.DeclareMatrix({"in_proj_weight"}, {3 * image.model, image.model}),
                                 &attention.DeclareVector({"in_proj_bias"}, 3 * image.model),
                                 Linear(attention, {"out_proj"}, image.model, image.model),
                                 LayerNorm(head / "layernorm", image.model, image.norm_epsilon),
                                 FeedForward(head / "mlp", image.model, image.ffn, image.activation)}});
    limits_.images = images_->embedding.limits();
  }
  if (config.text && config.image) {
    // Nearly all pairs in a batch are negative, so the initial logits are strongly negative (section 3.2).
    logit_scale_ = &root.Declare("logit_scale", {1}, Initialization::Constant(std::log(10.0)));
    logit_bias_ = &root.Declare("logit_bias", {1}, Initialization::Constant(-10));
  }
}

EncodedImages Siglip::EncodeImages(Context& context, std::span<const Tensor> images) const {
  CheckImages();
  EncodedImages encoded = images_->embedding(context, images);
  encoded.hidden = images_->norm(context, images_->layers(context, encoded.hidden, encoded.images));
  return encoded;
}

Tensor Siglip::PoolImages(Context& context, const EncodedImages& encoded) const {
  CheckImages();
  const AttentionPool& pool = images_->pool;
  const std::int64_t model = config_.image->model;
  const auto images = encoded.images.size();
  const Tensor probe = ops::Reshape(context.Use(*pool.probe), {1, model});
  const Tensor projected =
      ops::Linear(ops::Concatenate(encoded.hidden, probe), context.UseWeight(*pool.weight), context.Use(*pool.bias));
  // The probe's row follows the rows of all states. Every image uses the probe as its query.
  const auto probe_row = static_cast<std::int32_t>(encoded.hidden.rows());
  const Tensor query = ops::Embedding(projected, std::vector<std::int32_t>(images, probe_row));
  const ScaledDotProductAttention attention{.heads = config_.image->heads};
  const Tensor probes = ops::Columns(query, 0, model), keys = ops::Columns(projected, model, model),
               values = ops::Columns(projected, 2 * model, model);
  const Sequences each = PackedSequences(std::vector<std::int32_t>(images, 1));
  Tensor attended = attention(context, probes, keys, values, each, encoded.images);
  if (context.hooks.attention_gradient)
    attended = attention.WithGradients(context, attended, probes, keys, values, each, encoded.images,
                                       {AttentionKind::cross, config_.image->layers});
  return PreNorm(context, pool.output(context, attended), pool.norm, 0, pool.feed_forward);
}

Tensor Siglip::EncodeTexts(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  CheckTexts();
  return texts_->tower(context, ids, texts);
}

Tensor Siglip::PoolTexts(Context& context, const Tensor& hidden, std::span<const std::int32_t> /*ids*/,
                         const Sequences& texts) const {
  CheckTexts();
  std::vector<std::int32_t> rows;
  for (const Sequence& text : texts) {
    Check(text.length > 0, "a text has no tokens");
    rows.push_back(text.row(text.length - 1));
  }
  return texts_->head(context, ops::Embedding(hidden, rows));
}

void Describe(ConfigTable& table, SiglipTextConfig& config) {
  table.Note("model_type", "siglip_text_model");
  DescribeTextTower(table, config);
  if (!table.reads() || table.json()["projection_size"].present()) {
    std::int64_t vector = config.vector.value_or(config.model);
    table.Size("projection_size", vector, "the size of a vector");
    config.vector = vector;
  }
}

void Describe(ConfigTable& table, SiglipImageConfig& config) {
  table.Note("model_type", "siglip_vision_model");
  DescribeImageTower(table, config);
  table.Only("vision_use_head", true, "a tower without its attention pooling");
}

void Describe(ConfigTable& table, SiglipConfig& config) {
  table.Note("model_type", "siglip");
  DescribeTowers(table, config);
  if (config.text && config.image)
    table.Rule(config.text->vector.value_or(config.text->model) == config.image->model,
               "text vectors of {} numbers and image vectors of {} are not in one space",
               config.text->vector.value_or(config.text->model), config.image->model);
}

namespace {

std::unique_ptr<Siglip> LoadSiglip(const ModelFolder& files, const LoadModelOptions& options) {
  auto model = std::make_unique<Siglip>(ReadDualConfig<SiglipConfig>(files, options.dropout));
  LoadWeights(files, options, model->parameters(), {});
  return model;
}

}  // namespace

namespace families {
extern const Family siglip = MakeFamily<Siglip, LoadSiglip>({"siglip", "siglip_text_model", "siglip_vision_model"});
}  // namespace families

Json::Object Siglip::LayerSizes() const {
  if (!config_.image) return SizesOfStack(*config_.text);
  if (!config_.text) return SizesOfStack(*config_.image);
  Json::Object sizes = SizesOfPart("image", *config_.image);
  AddMissing(sizes, SizesOfPart("text", *config_.text));
  return sizes;
}

void Siglip::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteDualConfig(config_, "Siglip"), parameters_, compute);
}

}  // namespace headlight
