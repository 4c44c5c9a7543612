// headlight forward for models of pictures and captions.
#pragma once

#include <string>

#include "headlight/cli/forward_tensors.h"

namespace headlight {

// pixel_values [batch, channels, height, width] to encoder_last_hidden_state and encoder_attentions.LAYER. With
// decoder_input_ids, a text that is written about each picture, to logits, decoder_last_hidden_state,
// decoder_attentions.LAYER and cross_attentions.LAYER. With input_ids, a text that is read beside each, to
// last_hidden_state, attentions.LAYER, text_cross_attentions.LAYER, and where the model has them itm_score [batch, 2]
// and image_embeds and text_embeds [batch, shared], the last of the text alone. A model that answers reads the question
// before it writes.
NamedTensors ForwardCaptionModel(const Safetensors& in, const std::string& folder);

}  // namespace headlight
