// Converts images to rows of patches, and resizes tables of positions.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/nn/context.h"

namespace headlight {

/// Returns the grid of complete patches of an image.
inline Grid GridOf(const Tensor& image, Grid patch) {
  return {image.shape()[0] / patch.height, image.shape()[1] / patch.width};
}

/// Converts images [height, width, channels] to [patches, channels * patch height * patch width]: the patches of each
/// image in row-major order, image by image. A Linear with a convolution's weight [model, channels, height, width] then
/// computes that convolution with the patch size as stride. Incomplete patches at the right and bottom are omitted.
/// Throws Error for a different number of channels or an image smaller than a patch.
HEADLIGHT_API Tensor Patches(std::span<const Tensor> images, Grid patch, std::int64_t channels, DType dtype);

/// The interpolation of positions to another grid, as in PyTorch: bicubic with align_corners=False, without or with
/// antialiasing, or bilinear with align_corners=True.
enum class Interpolation { cubic, cubic_antialiased, linear };

/// Resizes a position table from [from.cells(), model] to [to.cells(), model]. Returns `table` itself if the grids are
/// equal.
HEADLIGHT_API Tensor InterpolatePositions(const Tensor& table, Grid from, Grid to,
                                          Interpolation interpolation = Interpolation::cubic);

}  // namespace headlight
