// The parts of an image that boxes hold, as numbers for a model that reads regions.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/image/box.h"
#include "headlight/image/image.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// Of the whole image first, and then of each box, clipped to the image.
struct BoxRegions {
  Tensor features;  // [1 + boxes, 3 * side * side]: its pixels, resized, row by row, each from -1 to 1
  Tensor places;    // [1 + boxes, numbers]: left, top, right and bottom as shares of the image's sides, and of its area
};

// True if the box overlaps the image. A box from a detector may lie outside of it.
HEADLIGHT_API bool LiesWithin(const Box& box, const Image& image);

// With the first `numbers` of a place, from 0 to 5. Throws Error for an image without pixels, for a side that is not
// from 1 to 64, and for a box outside of the image.
HEADLIGHT_API BoxRegions RegionsOfBoxes(const Image& image, std::span<const Box> boxes, std::int64_t side,
                                        std::int64_t numbers = 5);

}  // namespace headlight
