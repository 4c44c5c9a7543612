#include "headlight/kinds/caption_model.h"

#include "headlight/base/error.h"
#include "headlight/kinds/forward_images.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/kinds/pair_logits.h"
#include "headlight/ops/rms_norm.h"

namespace headlight {

Memory CaptionModel::MemoryOf(Context& /*context*/, const EncodedImages& encoded) const {
  return {encoded.hidden, encoded.images};
}

Tensor CaptionModel::ReadTexts(Context& /*context*/, std::span<const std::int32_t> /*ids*/, const Sequences& /*texts*/,
                               const Memory* /*images*/) const {
  Fail("{}: this model reads no texts, it only writes them", parameters_.source());
}

Tensor CaptionModel::MatchLogits(Context& /*context*/, const Tensor& /*states*/, const Sequences& /*texts*/) const {
  Fail("{}: this model has no head that matches texts with images", parameters_.source());
}

Tensor CaptionModel::ImageVectors(Context& /*context*/, const EncodedImages& /*encoded*/) const {
  Fail("{}: this model has no vectors of images and texts", parameters_.source());
}

Tensor CaptionModel::TextVectors(Context& /*context*/, const Tensor& /*states*/, const Sequences& /*texts*/) const {
  Fail("{}: this model has no vectors of images and texts", parameters_.source());
}

Json::Object CaptionModel::Description() const {
  Json::Array uses;
  for (const auto& [has, name] : {std::pair(uses_.captions, "captions"), std::pair(uses_.answers, "answers"),
                                  std::pair(uses_.matches, "matches"), std::pair(uses_.vectors, "vectors")})
    if (has) uses.push_back(name);
  return WithLayerSizes({{"uses", uses},
                         {"positions", limits_.positions},
                         {"image_height", image_limits_.image.height},
                         {"image_width", image_limits_.image.width},
                         {"patch_height", image_limits_.patch.height},
                         {"patch_width", image_limits_.patch.width},
                         {"channels", image_limits_.channels},
                         {"image_model", image_limits_.model}});
}

NamedTensors CaptionModel::Forward(const Safetensors& in) const {
  CheckInputs(in, {"pixel_values", "input_ids", "attention_mask", "decoder_input_ids", "decoder_attention_mask"});
  const std::vector<Tensor> images = ReadPixelValues(in, image_limits_.channels, image_limits_.patch);
  const std::int64_t batch = std::ssize(images);
  const Padded patches{.batch = batch,
                       .length = image_limits_.special + GridOf(images.front(), image_limits_.patch).cells(),
                       .ids = {},
                       .sequences = {},
                       .begin = std::vector<std::int64_t>(images.size())};
  const auto texts = [&](const std::string& ids, const std::string& mask, std::int64_t vocabulary) {
    Padded padded = ReadPadded(in, ids, mask, vocabulary, limits_.positions);
    Check(padded.batch == batch, "{}: pixel_values has {} images and {} {} rows: they must be equal", in.path(), batch,
          ids, padded.batch);
    return padded;
  };

  NamedTensors out;
  Context context;
  const auto watch = [&](std::array<const char*, 3> names, const Padded& queries, const Padded& keys) {
    context.hooks.attention = [&out, &queries, &keys, names](const LayerAttention& seen) {
      out.AddAttention(names[static_cast<std::size_t>(seen.kind)], seen, queries,
                       seen.kind == AttentionKind::cross ? keys : queries);
    };
  };
  watch({"encoder_attentions"}, patches, patches);
  const EncodedImages encoded = EncodeImages(context, images);
  out.tensors["encoder_last_hidden_state"] = encoded.hidden.ViewAs({batch, patches.length, encoded.hidden.columns()});
  Memory memory = MemoryOf(context, encoded);
  Padded read = patches;  // the input of the decoder
  // In Transformers, BLIP's name for the caption is `input_ids`, and other models use `decoder_input_ids`.
  const bool given = uses_.captions && in.contains("input_ids");
  Check(!given || !in.contains("decoder_input_ids"),
        "{}: has both input_ids and decoder_input_ids; only one of them is allowed", in.path());
  if (in.contains("input_ids") && !given) {
    const Padded read_texts = texts("input_ids", "attention_mask", limits_.source_vocabulary);
    watch({"attentions", nullptr, "text_cross_attentions"}, read_texts, patches);
    const Tensor states = ReadTexts(context, read_texts.ids, read_texts.sequences, &memory);
    out.tensors["last_hidden_state"] = Pad(states, read_texts);
    if (uses_.matches) out.tensors["itm_score"] = MatchLogits(context, states, read_texts.sequences);
    context.hooks.attention = {};
    if (uses_.vectors) {
      const Tensor alone = ReadTexts(context, read_texts.ids, read_texts.sequences, nullptr);
      const Tensor of_images = ops::UnitRows(ImageVectors(context, encoded)),
                   of_texts = ops::UnitRows(TextVectors(context, alone, read_texts.sequences));
      out.tensors["image_embeds"] = of_images;
      out.tensors["text_embeds"] = of_texts;
      if (logit_scale_ != nullptr) {
        out.tensors["logits_per_image"] = PairLogits(context, of_images, of_texts, *logit_scale_);
        out.tensors["logits_per_text"] = PairLogits(context, of_texts, of_images, *logit_scale_);
      }
    }
    memory = {states, read_texts.sequences};
    read = read_texts;
  }
  if (!in.contains("decoder_input_ids") && !given) return out;
  Check(uses_.captions || uses_.answers, "{}: decoder_input_ids is for a model that writes, and this one reads only",
        in.path());
  Check(!uses_.answers || in.contains("input_ids"), "{}: input_ids is missing: an answer needs a question", in.path());
  const Padded written = given ? texts("input_ids", "attention_mask", limits_.target_vocabulary)
                               : texts("decoder_input_ids", "decoder_attention_mask", limits_.target_vocabulary);
  watch({nullptr, "decoder_attentions", "cross_attentions"}, written, read);
  const Tensor hidden = Decode(context, written.ids, written.sequences, memory);
  out.tensors["decoder_last_hidden_state"] = Pad(hidden, written);
  out.tensors["logits"] = Pad(Logits(context, hidden), written);
  return out;
}

}  // namespace headlight
