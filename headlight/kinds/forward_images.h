// Image inputs of Model::Forward.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/grid.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// Reads the images [height, width, channels] in pixel_values. Throws Error for a different number of channels, and for
/// images smaller than a patch.
std::vector<Tensor> ReadPixelValues(const Safetensors& in, std::int64_t channels, Grid patch);

/// Reads the visible pixels of each image from pixel_mask. Throws Error if the mask and the images differ in size, or
/// if a value is not 0 or 1.
std::vector<std::vector<std::uint8_t>> ReadPixelMask(const Safetensors& in, std::span<const Tensor> images);

/// Converts rows of map cells to maps [batch, channels, height, width].
Tensor AsMaps(const Tensor& rows, std::int64_t batch, Grid grid);

}  // namespace headlight
