#include "headlight/cli/forward_captions.h"

#include <array>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/forward_pictures.h"
#include "headlight/models/family.h"
#include "headlight/nn/caption_model.h"
#include "headlight/ops/rms_norm.h"

namespace headlight {

NamedTensors ForwardCaptionModel(const Safetensors& in, const std::string& folder) {
  CheckInputs(in, {"pixel_values", "input_ids", "attention_mask", "decoder_input_ids", "decoder_attention_mask"});
  const auto model = LoadModel<CaptionModel>(folder);
  const CaptionModel::Uses& uses = model->uses();
  const ConditionalDecoder::Limits& limits = model->limits();
  const PictureEncoder::Limits& of_pictures = model->picture_limits();
  const std::vector<Tensor> pictures = ReadPixelValues(in, of_pictures.channels, of_pictures.patch);
  const std::int64_t batch = std::ssize(pictures);
  const Padded patches{.batch = batch,
                       .length = of_pictures.special + GridOf(pictures.front(), of_pictures.patch).cells(),
                       .ids = {},
                       .sentences = {},
                       .begin = std::vector<std::int64_t>(pictures.size())};
  const auto texts = [&](const std::string& ids, const std::string& mask, std::int64_t vocabulary) {
    Padded padded = ReadPadded(in, ids, mask, vocabulary, limits.positions);
    Check(padded.batch == batch, "{}: pixel_values has {} pictures and {} {} rows: they must be equal", in.path(),
          batch, ids, padded.batch);
    return padded;
  };

  NamedTensors out;
  Context context;
  const auto watch = [&](std::array<const char*, 3> names, const Padded& queries, const Padded& keys) {
    context.sink = [&out, &queries, &keys, names](const LayerAttention& seen) {
      out.AddAttention(names[static_cast<std::size_t>(seen.kind)], seen, queries,
                       seen.kind == AttentionKind::cross ? keys : queries);
    };
  };
  watch({"encoder_attentions"}, patches, patches);
  const EncodedPictures encoded = model->EncodePictures(context, pictures);
  out.tensors["encoder_last_hidden_state"] = encoded.hidden.ViewAs({batch, patches.length, encoded.hidden.columns()});
  Memory memory = model->MemoryOf(context, encoded);
  Padded read = patches;  // what the decoder reads
  if (in.contains("input_ids")) {
    Check(!uses.captions, "{}: input_ids is for a model that reads texts, and this one writes them: decoder_input_ids",
          in.path());
    const Padded beside = texts("input_ids", "attention_mask", limits.source_vocabulary);
    watch({"attentions", nullptr, "text_cross_attentions"}, beside, patches);
    const Tensor states = model->ReadTexts(context, beside.ids, beside.sentences, &memory);
    out.tensors["last_hidden_state"] = Pad(states, beside);
    if (uses.matches) out.tensors["itm_score"] = model->MatchLogits(context, states, beside.sentences);
    context.sink = {};
    if (uses.vectors) {
      const Tensor alone = model->ReadTexts(context, beside.ids, beside.sentences, nullptr);
      out.tensors["image_embeds"] = ops::UnitRows(model->PictureVectors(context, encoded));
      out.tensors["text_embeds"] = ops::UnitRows(model->TextVectors(context, alone, beside.sentences));
    }
    memory = {states, beside.sentences};
    read = beside;
  }
  if (!in.contains("decoder_input_ids")) return out;
  Check(uses.captions || uses.answers, "{}: decoder_input_ids is for a model that writes, and this one reads only",
        in.path());
  Check(!uses.answers || in.contains("input_ids"), "{}: input_ids is missing: an answer needs a question", in.path());
  const Padded written = texts("decoder_input_ids", "decoder_attention_mask", limits.target_vocabulary);
  watch({nullptr, "decoder_attentions", "cross_attentions"}, written, read);
  const Tensor hidden = model->Decode(context, written.ids, written.sentences, memory);
  out.tensors["decoder_last_hidden_state"] = Pad(hidden, written);
  out.tensors["logits"] = Pad(model->Logits(context, hidden), written);
  return out;
}

}  // namespace headlight
