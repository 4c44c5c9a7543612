// Images as rows: patches, and the positions of their grids.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/nn/context.h"

namespace headlight {

// The whole patches of an image.
inline Grid GridOf(const Tensor& image, Grid patch) {
  return {image.shape()[0] / patch.height, image.shape()[1] / patch.width};
}

// Images [height, width, channels] to [patches, channels * patch height * patch width]: the patches of each image
// row by row, one image after another. A Linear with a convolution's weight [model, channels, height, width] is then
// that convolution with the patch as its stride; as there, what is left at the right and below is left out. Throws
// Error for other channels and for an image that is smaller than a patch.
HEADLIGHT_API Tensor Patches(std::span<const Tensor> images, Grid patch, std::int64_t channels, DType dtype);

// How positions of another grid are found, as PyTorch computes it: bicubic with corners not aligned, plain or
// antialiased, and bilinear with corners aligned.
enum class Interpolation { cubic, cubic_antialiased, linear };

// A table of positions [from.cells(), model] at the cells of another grid, [to.cells(), model]; the same table where
// the grids are equal.
HEADLIGHT_API Tensor InterpolatePositions(const Tensor& table, Grid from, Grid to,
                                          Interpolation interpolation = Interpolation::cubic);

}  // namespace headlight
