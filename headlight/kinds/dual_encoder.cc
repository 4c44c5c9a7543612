#include "headlight/kinds/dual_encoder.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/kinds/forward_images.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/kinds/pair_logits.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/rms_norm.h"

namespace headlight {

void DualEncoder::CheckImages() const {
  Check(limits_.has_images(), "{}: this model has no tower for images", parameters_.source());
}

void DualEncoder::CheckTexts() const {
  Check(limits_.has_texts(), "{}: this model has no tower for texts", parameters_.source());
}

Tensor DualEncoder::ProjectImages(Context& context, const Tensor& pooled) const {
  return image_projection_ ? (*image_projection_)(context, pooled) : pooled;
}

Tensor DualEncoder::ProjectTexts(Context& context, const Tensor& pooled) const {
  return text_projection_ ? (*text_projection_)(context, pooled) : pooled;
}

Tensor DualEncoder::ImageVectors(Context& context, std::span<const Tensor> images) const {
  const Tensor pooled = PoolImages(context, EncodeImages(context, images));
  return ops::UnitRows(ProjectImages(context, pooled));
}

Tensor DualEncoder::TextVectors(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  const Tensor pooled = PoolTexts(context, EncodeTexts(context, ids, texts), ids, texts);
  return ops::UnitRows(ProjectTexts(context, pooled));
}

Tensor DualEncoder::Logits(Context& context, const Tensor& a, const Tensor& b) const {
  Check(logit_scale_ != nullptr, "{}: this model has one tower, and no scores of pairs", parameters_.source());
  const Tensor logits = PairLogits(context, a, b, *logit_scale_);
  return logit_bias_ == nullptr ? logits : ops::Add(logits, context.Use(*logit_bias_));
}

Json::Object DualEncoder::Description() const {
  Json::Object description = {{"vector", limits_.vector}};
  const auto add = [&](const char* name, const Json& value) { description.push_back({name, value}); };
  if (limits_.has_images()) {
    const ImageEncoder::Limits& images = limits_.images;
    add("image_height", images.image.height);
    add("image_width", images.image.width);
    add("patch_height", images.patch.height);
    add("patch_width", images.patch.width);
    add("channels", images.channels);
    add("image_model", images.model);
  }
  if (limits_.has_texts()) {
    add("positions", limits_.positions);
    add("text_model", limits_.text_model);
  }
  if (logit_scale_ != nullptr) add("scores", limits_.scores == Scores::softmax ? "softmax" : "sigmoid");
  return WithLayerSizes(std::move(description));
}

namespace {

// Returns Transformers' name of a tower's output. If the model has only one tower, the name has no prefix.
std::string NameIn(const DualEncoder& model, const char* tower, const char* output) {
  return model.logit_scale() != nullptr ? fmt::format("{}_{}", tower, output) : output;
}

// Returns the embeddings, normalized if the model has both towers. Transformers does not normalize the embeddings of a
// single tower.
Tensor Embeds(const DualEncoder& model, const Tensor& projected) {
  return model.logit_scale() != nullptr ? ops::UnitRows(projected) : projected;
}

Tensor AddImages(const Safetensors& in, const DualEncoder& model, NamedTensors& out) {
  model.CheckImages();
  const ImageEncoder::Limits& limits = model.limits().images;
  const std::vector<Tensor> images = ReadPixelValues(in, limits.channels, limits.patch);
  const std::int64_t batch = std::ssize(images);
  const Padded tokens{.batch = batch,
                      .length = limits.special + GridOf(images.front(), limits.patch).cells(),
                      .ids = {},
                      .sequences = {},
                      .begin = std::vector<std::int64_t>(images.size())};
  Context context;
  const std::string attentions = NameIn(model, "vision", "attentions");
  context.hooks.attention = [&](const LayerAttention& seen) {
    out.AddAttention(attentions.c_str(), seen, tokens, tokens);
  };
  const EncodedImages encoded = model.EncodeImages(context, images);
  const Tensor pooled = model.PoolImages(context, encoded);
  out.tensors[NameIn(model, "vision", "last_hidden_state")] =
      encoded.hidden.ViewAs({batch, tokens.length, encoded.hidden.columns()});
  out.tensors[NameIn(model, "vision", "pooler_output")] = pooled;
  return out.tensors["image_embeds"] = Embeds(model, model.ProjectImages(context, pooled));
}

Tensor AddTexts(const Safetensors& in, const DualEncoder& model, NamedTensors& out) {
  model.CheckTexts();
  const DualEncoder::Limits& limits = model.limits();
  const Padded texts = ReadPadded(in, "input_ids", "attention_mask", limits.vocabulary, limits.positions);
  if (limits.filled > 0)
    for (std::size_t row = 0; row < texts.sequences.size(); ++row)
      Check(texts.sequences[row].length == texts.length,
            "{}: attention_mask, row {}: must be 1, since this model reads padding as text", in.path(), row);
  Context context;
  const std::string attentions = NameIn(model, "text", "attentions");
  context.hooks.attention = [&](const LayerAttention& seen) {
    out.AddAttention(attentions.c_str(), seen, texts, texts);
  };
  const Tensor hidden = model.EncodeTexts(context, texts.ids, texts.sequences);
  const Tensor pooled = model.PoolTexts(context, hidden, texts.ids, texts.sequences);
  out.tensors[NameIn(model, "text", "last_hidden_state")] = Pad(hidden, texts);
  out.tensors[NameIn(model, "text", "pooler_output")] = pooled;
  return out.tensors["text_embeds"] = Embeds(model, model.ProjectTexts(context, pooled));
}

}  // namespace

NamedTensors DualEncoder::Forward(const Safetensors& in) const {
  CheckInputs(in, {"pixel_values", "input_ids", "attention_mask"});
  const bool images = in.contains("pixel_values"), texts = in.contains("input_ids");
  Check(images || texts, "{}: there is neither pixel_values nor input_ids", in.path());
  NamedTensors out;
  const Tensor of_images = images ? AddImages(in, *this, out) : Tensor();
  const Tensor of_texts = texts ? AddTexts(in, *this, out) : Tensor();
  if (!images || !texts) return out;
  Context context;
  out.tensors["logits_per_image"] = Logits(context, of_images, of_texts);
  out.tensors["logits_per_text"] = Logits(context, of_texts, of_images);
  return out;
}

}  // namespace headlight
