// headlight forward for decoders that draw.
#pragma once

#include <string>

#include "headlight/cli/forward_tensors.h"

namespace headlight {

// input_ids [batch, length], the texts, 0 where there is padding, and perhaps codes [batch, drawn], the first ones of
// the pictures, to last_hidden_state [batch, tokens, model], text_logits [batch, text positions, text ids], logits
// [batch, codes drawn and the next one, codes] and attentions.LAYER.
NamedTensors ForwardDrawingModel(const Safetensors& in, const std::string& folder);

}  // namespace headlight
