// Images side by side.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

// The size of SheetOf for `count` images of one size. Throws Error for none, and for more than 100 million pixels.
HEADLIGHT_API ImageSize SheetSize(ImageSize image, std::int64_t count, std::int64_t columns);

// Images of one size in rows of `columns`, in their order, on white, with two pixels of it around each; one image
// alone is itself. Throws Error as SheetSize, and for images of several sizes.
HEADLIGHT_API Image SheetOf(std::span<const Image> images, std::int64_t columns);

}  // namespace headlight
