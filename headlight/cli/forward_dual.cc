#include "headlight/cli/forward_dual.h"

#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/forward_pictures.h"
#include "headlight/models/family.h"
#include "headlight/nn/dual_encoder.h"
#include "headlight/ops/rms_norm.h"

namespace headlight {
namespace {

// Vectors, whose length is 1 where there are both towers: of one alone Transformers gives them as they are.
Tensor Embeds(const DualEncoder& model, const Tensor& projected) {
  return model.logit_scale() != nullptr ? ops::UnitRows(projected) : projected;
}

Tensor AddPictures(const Safetensors& in, const DualEncoder& model, NamedTensors& out) {
  model.CheckPictures();
  const PictureEncoder::Limits& limits = model.limits().pictures;
  const std::vector<Tensor> pictures = ReadPixelValues(in, limits.channels, limits.patch);
  const std::int64_t batch = std::ssize(pictures);
  const Padded tokens{.batch = batch,
                      .length = limits.special + GridOf(pictures.front(), limits.patch).cells(),
                      .ids = {},
                      .sentences = {},
                      .begin = std::vector<std::int64_t>(pictures.size())};
  Context context;
  context.sink = [&](const LayerAttention& seen) { out.AddAttention("vision_attentions", seen, tokens, tokens); };
  const EncodedPictures encoded = model.EncodePictures(context, pictures);
  const Tensor pooled = model.PoolPictures(context, encoded);
  out.tensors["vision_last_hidden_state"] = encoded.hidden.ViewAs({batch, tokens.length, encoded.hidden.columns()});
  out.tensors["vision_pooler_output"] = pooled;
  return out.tensors["image_embeds"] = Embeds(model, model.ProjectPictures(context, pooled));
}

Tensor AddTexts(const Safetensors& in, const DualEncoder& model, NamedTensors& out) {
  model.CheckTexts();
  const DualEncoder::Limits& limits = model.limits();
  const Padded texts = ReadPadded(in, "input_ids", "attention_mask", limits.vocabulary, limits.positions);
  if (limits.filled > 0)
    for (std::size_t row = 0; row < texts.sentences.size(); ++row)
      Check(texts.sentences[row].length == texts.length,
            "{}: attention_mask, row {}: must be 1: this model reads what fills up a text as its own", in.path(), row);
  Context context;
  context.sink = [&](const LayerAttention& seen) { out.AddAttention("text_attentions", seen, texts, texts); };
  const Tensor hidden = model.EncodeTexts(context, texts.ids, texts.sentences);
  const Tensor pooled = model.PoolTexts(context, hidden, texts.ids, texts.sentences);
  out.tensors["text_last_hidden_state"] = Pad(hidden, texts);
  out.tensors["text_pooler_output"] = pooled;
  return out.tensors["text_embeds"] = Embeds(model, model.ProjectTexts(context, pooled));
}

}  // namespace

NamedTensors ForwardDualEncoder(const Safetensors& in, const std::string& folder) {
  CheckInputs(in, {"pixel_values", "input_ids", "attention_mask"});
  const bool pictures = in.contains("pixel_values"), texts = in.contains("input_ids");
  Check(pictures || texts, "{}: there is neither pixel_values nor input_ids", in.path());
  const auto model = LoadModel<DualEncoder>(folder);
  NamedTensors out;
  const Tensor of_pictures = pictures ? AddPictures(in, *model, out) : Tensor();
  const Tensor of_texts = texts ? AddTexts(in, *model, out) : Tensor();
  if (!pictures || !texts) return out;
  Context context;
  out.tensors["logits_per_image"] = model->Logits(context, of_pictures, of_texts);
  out.tensors["logits_per_text"] = model->Logits(context, of_texts, of_pictures);
  return out;
}

}  // namespace headlight
