#include "headlight/nn/dual_encoder.h"

#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/exponential.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/rms_norm.h"

namespace headlight {

void DualEncoder::CheckPictures() const {
  Check(limits_.has_pictures(), "{}: this model has no tower for pictures", parameters_.source());
}

void DualEncoder::CheckTexts() const {
  Check(limits_.has_texts(), "{}: this model has no tower for texts", parameters_.source());
}

Tensor DualEncoder::ProjectPictures(Context& context, const Tensor& pooled) const {
  return picture_projection_ ? (*picture_projection_)(context, pooled) : pooled;
}

Tensor DualEncoder::ProjectTexts(Context& context, const Tensor& pooled) const {
  return text_projection_ ? (*text_projection_)(context, pooled) : pooled;
}

Tensor DualEncoder::PictureVectors(Context& context, std::span<const Tensor> pictures) const {
  const Tensor pooled = PoolPictures(context, EncodePictures(context, pictures));
  return ops::UnitRows(ProjectPictures(context, pooled));
}

Tensor DualEncoder::TextVectors(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const {
  const Tensor pooled = PoolTexts(context, EncodeTexts(context, ids, texts), ids, texts);
  return ops::UnitRows(ProjectTexts(context, pooled));
}

Tensor DualEncoder::Logits(Context& context, const Tensor& a, const Tensor& b) const {
  Check(logit_scale_ != nullptr, "{}: this model has one tower, and no scores of pairs", parameters_.source());
  const Tensor scale = ops::Exponential(context.Use(*logit_scale_));
  const Tensor logits = ops::Multiply(ops::Linear(a, {.value = b}), scale);
  return logit_bias_ == nullptr ? logits : ops::Add(logits, context.Use(*logit_bias_));
}

Json::Object DualEncoder::Description() const {
  Json::Object description = {{"vector", limits_.vector}};
  const auto add = [&](const char* name, const Json& value) { description.push_back({name, value}); };
  if (limits_.has_pictures()) {
    const PictureEncoder::Limits& pictures = limits_.pictures;
    add("picture_height", pictures.picture.height);
    add("picture_width", pictures.picture.width);
    add("patch_height", pictures.patch.height);
    add("patch_width", pictures.patch.width);
    add("channels", pictures.channels);
    add("picture_model", pictures.model);
  }
  if (limits_.has_texts()) {
    add("positions", limits_.positions);
    add("text_model", limits_.text_model);
  }
  if (logit_scale_ != nullptr) add("scores", limits_.scores == Scores::softmax ? "softmax" : "sigmoid");
  return description;
}

}  // namespace headlight
