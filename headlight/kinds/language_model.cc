#include "headlight/kinds/language_model.h"

#include "headlight/kinds/forward_tensors.h"
#include "headlight/ops/arithmetic.h"

namespace headlight {

NamedTensors LanguageModel::Forward(const Safetensors& in) const {
  CheckInputs(in, {"input_ids", "attention_mask"});
  const Padded texts = ReadPadded(in, "input_ids", "attention_mask", limits_.vocabulary, limits_.positions);
  NamedTensors out;
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) { out.AddAttention("attentions", seen, texts, texts); };
  const Tensor hidden = Decode(context, texts.ids, texts.sequences);
  out.tensors["last_hidden_state"] = Pad(state_divisor_ == 1 ? hidden : ops::Scale(hidden, state_divisor_), texts);
  if (outputs() > 0) out.tensors["logits"] = Pad(Logits(context, hidden), texts);
  AddOutputs(context, hidden, texts.sequences, out);
  return out;
}

}  // namespace headlight
