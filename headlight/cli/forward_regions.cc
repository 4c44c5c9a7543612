#include "headlight/cli/forward_regions.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/vilbert.h"
#include "headlight/nn/region_text_encoder.h"

namespace headlight {
namespace {

// The packed rows of numbers [pairs, regions, columns], for the regions that are seen.
Tensor ReadRegions(const Safetensors& in, const char* name, const Padded& seen, std::int64_t columns) {
  const StoredTensor& stored = in.At(name);
  Check(stored.shape == Shape({seen.batch, seen.length, columns}), "{}: {} has the shape {}, and must be [{}, {}, {}]",
        in.path(), name, ToString(stored.shape), seen.batch, seen.length, columns);
  const Tensor all = in.Read(name);
  const Tensor rows = Tensor::Empty({std::ssize(seen.ids), columns});
  for (std::size_t pair = 0; pair < seen.sentences.size(); ++pair)
    for (std::int32_t i = 0; i < seen.sentences[pair].length; ++i)
      std::copy_n(all.matrix<float>().row(static_cast<std::int64_t>(pair) * seen.length + seen.begin[pair] + i),
                  columns, rows.matrix<float>().row(seen.sentences[pair].row(i)));
  return rows;
}

// Which regions of each picture are seen: those where image_attention_mask is 1, or all.
Padded ReadSeen(const Safetensors& in, const Padded& texts) {
  const Shape shape = in.At("image_feat").shape;
  // Without features any number of regions would take no bytes in the file.
  Check(shape.rank() == 3 && shape[0] == texts.batch && shape[1] > 0 && shape[2] > 0,
        "{}: image_feat has the shape {}, and must be [{}, regions, features] beside input_ids, none of them 0",
        in.path(), ToString(shape), texts.batch);
  constexpr const char* mask = "image_attention_mask";
  Padded seen{texts.batch, shape[1], {}, {}, {}};
  if (in.contains(mask)) {
    Check(in.At(mask).shape == Shape({seen.batch, seen.length}), "{}: {} has the shape {}, and must be [{}, {}]",
          in.path(), mask, ToString(in.At(mask).shape), seen.batch, seen.length);
    return ReadPadded(in, mask, mask, 2, seen.length);  // whose own entries stand for ids
  }
  for (std::int64_t pair = 0; pair < seen.batch; ++pair) {
    seen.begin.push_back(0);
    seen.sentences.push_back({static_cast<std::int32_t>(pair * seen.length), static_cast<std::int32_t>(seen.length)});
  }
  seen.ids.resize(static_cast<std::size_t>(seen.batch * seen.length));
  return seen;
}

std::vector<std::int32_t> ReadTasks(const Safetensors& in, const Padded& texts, std::int64_t tasks) {
  if (!in.contains("task_ids")) return {};
  const Tensor ids = ReadIntegers(in, "task_ids");
  Check(ids.shape() == Shape({texts.batch, 1}), "{}: task_ids has the shape {}, and must be [{}, 1]", in.path(),
        ToString(ids.shape()), texts.batch);
  std::vector<std::int32_t> numbers = ids.ToVector<std::int32_t>();
  for (const std::int32_t number : numbers)
    Check(number >= 0 && number < tasks, "{}: task_ids: {} is no task of {}", in.path(), number, tasks);
  return numbers;
}

// The texts with the tokens that the model adds to each.
Padded WithAdded(const Padded& texts, const Sequences& sentences) {
  Padded longer = texts;
  longer.length += sentences.front().length - texts.sentences.front().length;
  longer.sentences = sentences;
  return longer;
}

const char* NameOf(AttentionKind kind) {
  return kind == AttentionKind::encoder_self      ? "attentions_t"
         : kind == AttentionKind::picture_self    ? "attentions_v"
         : kind == AttentionKind::text_to_picture ? "attentions_tv"
                                                  : "attentions_vt";
}

}  // namespace

NamedTensors ForwardRegionTexts(const Safetensors& in, const std::string& folder) {
  CheckInputs(in, {"input_ids", "attention_mask", "token_type_ids", "image_feat", "image_loc", "image_attention_mask",
                   "task_ids"});
  const auto model = LoadModel<RegionTextEncoder>(folder);
  const RegionTextEncoder::Limits& limits = model->limits();
  const Padded ids = ReadPadded(in, "input_ids", "attention_mask", limits.vocabulary, limits.positions);
  std::vector<std::int32_t> types;
  if (in.contains("token_type_ids")) types = ReadBesideIds(in, "token_type_ids", ids);
  for (std::size_t pair = 0; pair < ids.begin.size(); ++pair)
    Check(ids.begin[pair] == 0, "{}: attention_mask, row {}: this model reads texts with padding behind them alone",
          in.path(), pair);
  const Padded seen = ReadSeen(in, ids);
  const Regions regions = {ReadRegions(in, "image_feat", seen, limits.features),
                           ReadRegions(in, "image_loc", seen, limits.box_numbers), seen.sentences};

  NamedTensors out;
  Context context;
  std::vector<LayerAttention> attentions;
  context.sink = [&](const LayerAttention& one) { attentions.push_back(one); };
  const EncodedPairs encoded =
      model->Encode(context, ids.ids, types, ids.sentences, regions, ReadTasks(in, ids, limits.tasks));
  const Padded texts = WithAdded(ids, encoded.texts);
  for (const LayerAttention& one : attentions) {
    const bool of_text = one.kind == AttentionKind::encoder_self || one.kind == AttentionKind::text_to_picture;
    const bool to_text = one.kind == AttentionKind::encoder_self || one.kind == AttentionKind::picture_to_text;
    out.AddAttention(NameOf(one.kind), one, of_text ? texts : seen, to_text ? texts : seen);
  }
  out.tensors["sequence_output_t"] = Pad(encoded.text, texts);
  out.tensors["sequence_output_v"] = Pad(encoded.regions, seen);
  const Tensor pooled = model->Pool(context, encoded);
  if (model->heads().masked_words)
    out.tensors["prediction_scores_t"] = Pad(model->MaskedWordLogits(context, encoded.text), texts);
  const RegionTextEncoder::PairHeads& heads = model->pair_heads();
  if (heads.regions) out.tensors["prediction_scores_v"] = Pad(model->RegionLogits(context, encoded.regions), seen);
  if (heads.alignment) out.tensors["seq_relationship_score"] = model->AlignmentLogits(context, pooled);
  if (heads.answers) out.tensors["vil_prediction"] = model->AnswerLogits(context, pooled);
  if (const auto* const vilbert = dynamic_cast<const Vilbert*>(model.get())) {
    out.tensors["pooled_output_t"] = vilbert->PoolText(context, encoded);
    out.tensors["pooled_output_v"] = vilbert->PoolPicture(context, encoded);
    for (const auto& [name, logits] : vilbert->TaskLogits(context, encoded, pooled))
      out.tensors[name] = name == "vision_logit"      ? Pad(logits, seen)
                          : name == "linguisic_logit" ? Pad(logits, texts)
                                                      : logits;
  }
  return out;
}

}  // namespace headlight
