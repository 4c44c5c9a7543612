// Images among the tensors of Model::Forward.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/grid.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// The images [height, width, channels] of pixel_values. Throws Error for other channels, and where they are smaller
// than a patch.
std::vector<Tensor> ReadPixelValues(const Safetensors& in, std::int64_t channels, Grid patch);

// Of each image the pixels that pixel_mask shows. Throws Error where it is not of the images' size, of 0 and 1.
std::vector<std::vector<std::uint8_t>> ReadPixelMask(const Safetensors& in, std::span<const Tensor> images);

// Rows of the cells of maps, as maps [batch, channels, height, width].
Tensor AsMaps(const Tensor& rows, std::int64_t batch, Grid grid);

}  // namespace headlight
