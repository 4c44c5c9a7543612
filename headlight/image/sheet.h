// Pictures side by side.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/image/picture.h"

namespace headlight {

// Pictures of one size in rows of `columns`, in their order, on white, with two pixels of it around each; one picture
// alone is itself. Throws Error for pictures of several sizes, for none, and for more than 100 million pixels.
HEADLIGHT_API Picture SheetOf(std::span<const Picture> pictures, std::int64_t columns);

}  // namespace headlight
