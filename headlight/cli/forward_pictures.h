// headlight forward for encoders of pictures.
#pragma once

#include <string>

#include "headlight/cli/forward_tensors.h"

namespace headlight {

// pixel_values [batch, channels, height, width] and perhaps bool_masked_pos [batch, patches] to last_hidden_state,
// attentions.LAYER, and where the model has them pooler_output, logits and reconstruction.
NamedTensors ForwardPictureEncoder(const Safetensors& in, const std::string& folder);

}  // namespace headlight
