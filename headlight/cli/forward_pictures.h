// headlight forward for models of pictures.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/grid.h"
#include "headlight/cli/forward_tensors.h"
#include "headlight/nn/object_detector.h"

namespace headlight {

// The pictures [height, width, channels] of pixel_values. Throws Error for other channels, and where they are smaller
// than a patch.
std::vector<Tensor> ReadPixelValues(const Safetensors& in, std::int64_t channels, Grid patch);

// pixel_values [batch, channels, height, width] and perhaps bool_masked_pos [batch, patches] to last_hidden_state,
// attentions.LAYER, and where the model has them pooler_output, logits and reconstruction.
// Of each picture the pixels that pixel_mask shows. Throws Error where it is not of the pictures' size, of 0 and 1.
std::vector<ObjectDetector::PixelMask> ReadPixelMask(const Safetensors& in, std::span<const Tensor> pictures);

NamedTensors ForwardPictureEncoder(const Safetensors& in, const std::string& folder);

// pixel_values and perhaps pixel_mask [batch, height, width], 1 where there is picture, to logits, pred_boxes,
// last_hidden_state, encoder_last_hidden_state, encoder_attentions.LAYER, decoder_attentions.LAYER,
// cross_attentions.LAYER, and where the model has masks pred_masks.
NamedTensors ForwardDetector(const Safetensors& in, const std::string& folder);

// pixel_values, from 0 to 1, to the codes' logits [batch, codes, rows, columns] and the likeliest codes [batch, rows,
// columns]; or codes to the pixel_values that they stand for.
NamedTensors ForwardPictureCoder(const Safetensors& in, const std::string& folder);

}  // namespace headlight
