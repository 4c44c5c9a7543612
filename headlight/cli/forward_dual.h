// headlight forward for models of two towers.
#pragma once

#include <string>

#include "headlight/cli/forward_tensors.h"

namespace headlight {

// pixel_values, or input_ids and perhaps attention_mask, or both, to logits_per_image, logits_per_text, and of each
// tower, where it is asked, its vector image_embeds or text_embeds and under vision_ or text_ its last_hidden_state,
// pooler_output and attentions.LAYER.
NamedTensors ForwardDualEncoder(const Safetensors& in, const std::string& folder);

}  // namespace headlight
