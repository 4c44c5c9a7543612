// Pictures side by side.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/image/picture.h"

namespace headlight {

// The size of SheetOf for `count` pictures of one size. Throws Error for none, and for more than 100 million pixels.
HEADLIGHT_API PictureSize SheetSize(PictureSize picture, std::int64_t count, std::int64_t columns);

// Pictures of one size in rows of `columns`, in their order, on white, with two pixels of it around each; one picture
// alone is itself. Throws Error as SheetSize, and for pictures of several sizes.
HEADLIGHT_API Picture SheetOf(std::span<const Picture> pictures, std::int64_t columns);

}  // namespace headlight
