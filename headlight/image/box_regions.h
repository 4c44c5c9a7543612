// The parts of a picture that boxes hold, as numbers for a model that reads regions.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/image/box.h"
#include "headlight/image/picture.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// Of the whole picture first, and then of each box, clipped to the picture.
struct BoxRegions {
  Tensor features;  // [1 + boxes, 3 * side * side]: its pixels, resized, row by row, each from -1 to 1
  Tensor places;  // [1 + boxes, numbers]: left, top, right and bottom as shares of the picture's sides, and of its area
};

// True if the box overlaps the picture. A box from a detector may lie outside of it.
HEADLIGHT_API bool LiesWithin(const Box& box, const Picture& picture);

// With the first `numbers` of a place, from 0 to 5. Throws Error for a picture without pixels, for a side that is not
// from 1 to 64, and for a box outside of the picture.
HEADLIGHT_API BoxRegions RegionsOfBoxes(const Picture& picture, std::span<const Box> boxes, std::int64_t side,
                                        std::int64_t numbers = 5);

}  // namespace headlight
