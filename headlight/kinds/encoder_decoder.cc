#include "headlight/kinds/encoder_decoder.h"

#include "headlight/base/error.h"
#include "headlight/kinds/forward_tensors.h"

namespace headlight {

NamedTensors EncoderDecoder::Forward(const Safetensors& in) const {
  CheckInputs(in, {"input_ids", "attention_mask", "decoder_input_ids", "decoder_attention_mask"});
  const Padded source = ReadPadded(in, "input_ids", "attention_mask", limits_.source_vocabulary, limits_.positions);
  Padded target;
  if (in.contains("decoder_input_ids")) {
    target =
        ReadPadded(in, "decoder_input_ids", "decoder_attention_mask", limits_.target_vocabulary, limits_.positions);
    Check(target.batch == source.batch, "{}: input_ids has {} rows and decoder_input_ids {}: they must be equal",
          in.path(), source.batch, target.batch);
  }

  NamedTensors out;
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) { out.AddAttention(seen, source, target); };
  const Memory memory{Encode(context, source.ids, source.sequences), source.sequences};
  out.tensors["encoder_last_hidden_state"] = Pad(memory.rows, source);
  if (target.batch > 0) {
    const Tensor hidden = Decode(context, target.ids, target.sequences, memory);
    out.tensors["decoder_last_hidden_state"] = Pad(hidden, target);
    out.tensors["logits"] = Pad(Logits(context, hidden), target);
  }
  return out;
}

}  // namespace headlight
