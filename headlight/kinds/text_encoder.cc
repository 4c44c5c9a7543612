#include "headlight/kinds/text_encoder.h"

#include <map>
#include <set>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/kinds/forward_tensors.h"

namespace headlight {

Json::Object TextEncoder::Description() const {
  Json::Object description = WithLayerSizes({{"positions", limits_.positions}, {"heads", head_names()}});
  if (!heads().labels.empty()) description.push_back({"labels", heads().labels});
  return description;
}

NamedTensors TextEncoder::Forward(const Safetensors& in) const {
  CheckInputs(in, {"input_ids", "attention_mask", "token_type_ids"});
  const Padded texts = ReadPadded(in, "input_ids", "attention_mask", limits_.vocabulary, limits_.positions);
  std::vector<std::int32_t> types;
  if (in.contains("token_type_ids")) types = ReadLikeIds(in, "token_type_ids", texts);

  NamedTensors out;
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) { out.AddAttention("attentions", seen, texts, texts); };
  std::vector<std::int32_t> first_positions;
  if (limits_.padding_has_positions) first_positions.assign(texts.begin.begin(), texts.begin.end());
  const Tensor hidden = Encode(context, texts.ids, types, texts.sequences, first_positions);
  out.tensors["last_hidden_state"] = Pad(hidden, texts);
  const TextHeadsConfig& had = heads();
  if (had.masked_words) out.tensors["logits"] = Pad(MaskedTokenLogits(context, hidden), texts);
  if (had.token_classes) out.tensors["logits"] = Pad(TokenClassLogits(context, hidden), texts);
  if (had.sequence_classes) out.tensors["logits"] = SequenceClassLogits(context, hidden, texts.sequences);
  if (had.question_spans) {
    const Tensor spans = Pad(SpanLogits(context, hidden), texts);
    for (const auto& [name, column] : {std::pair("start_logits", 0), std::pair("end_logits", 1)})
      out.tensors[name] = spans.ViewColumns(column, 1).Clone().ViewAs({texts.batch, texts.length});
  }
  if (had.pooler) {
    const Tensor pooled = Pool(context, hidden, texts.sequences);
    out.tensors["pooler_output"] = pooled;
    if (had.next_sentence) out.tensors["seq_relationship_logits"] = NextSentenceLogits(context, pooled);
  }
  return out;
}

std::unique_ptr<TextEncoder> AddHeads(const TextEncoder& model, const TextHeadsConfig& heads, std::uint64_t seed) {
  std::unique_ptr<TextEncoder> made = model.WithHeads(heads);
  made->parameters().Initialize(seed);
  std::map<std::string_view, const Parameter*> had;
  for (const Parameter& parameter : model.parameters().all()) had[parameter.names.front()] = &parameter;
  // Two different heads may have the same parameter name, such as `classifier`. Only parameters of heads that both
  // models have are kept.
  const std::unique_ptr<TextEncoder> kept = model.WithHeads(CommonHeads(model.heads(), made->heads()));
  std::set<std::string_view> names;
  for (const Parameter& parameter : kept->parameters().all()) names.insert(parameter.names.front());
  made->parameters().Unpack();
  for (const Parameter& parameter : made->parameters().all()) {
    const std::string_view name = parameter.names.front();
    if (!names.contains(name)) continue;
    // If a folder has only the encoder, names do not have the prefix `bert.`.
    const auto same = had.contains(name) ? had.find(name) : had.find(name.substr(name.find('.') + 1));
    Ensure(same != had.end() && same->second->shape == parameter.shape, "{} is not kept", name);
    parameter.value.CopyFrom(same->second->value);
  }
  made->parameters().Pack();
  if (!model.reads_types()) made->LeaveOutTypes();
  return made;
}

}  // namespace headlight
