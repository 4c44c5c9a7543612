// Extracts the pixels of boxes in an image, as inputs of a model for image regions.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/image/box.h"
#include "headlight/image/image.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The regions of an image: one row for the whole image, then one row for each box, clipped to the image.
struct BoxRegions {
  Tensor features;  // [1 + boxes, 3 * side * side] resized pixels in row-major order, from -1 to 1
  Tensor places;    // [1 + boxes, numbers] left, top, right and bottom relative to the image's sides, and relative area
};

/// Returns true if the box overlaps the image. A detector's box can be outside of the image.
HEADLIGHT_API bool IsWithin(const Box& box, const Image& image);

/// Computes the regions. `numbers`, from 0 to 5, is the number of values per row of `places`. Throws Error for an image
/// without pixels, for a side that is not from 1 to 64, and for a box outside of the image.
HEADLIGHT_API BoxRegions RegionsOfBoxes(const Image& image, std::span<const Box> boxes, std::int64_t side,
                                        std::int64_t numbers = 5);

}  // namespace headlight
