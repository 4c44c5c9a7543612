// headlight forward for models that read texts with regions of pictures.
#pragma once

#include <string>

#include "headlight/cli/forward_tensors.h"

namespace headlight {

// input_ids, attention_mask, token_type_ids [pairs, length], image_feat [pairs, regions, features], image_loc [pairs,
// regions, box numbers], image_attention_mask [pairs, regions] and task_ids [pairs, 1] to the states, pooled states,
// outputs of all heads and attentions, under the names that AddForward's help has.
NamedTensors ForwardRegionTexts(const Safetensors& in, const std::string& folder);

}  // namespace headlight
