// Arranges images on a sheet.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

/// The size of a sheet with `count` images of one size. Throws Error for no images, and for more than 100 million
/// pixels.
HEADLIGHT_API ImageSize SheetSize(ImageSize image, std::int64_t count, std::int64_t columns);

/// Arranges images of one size in rows of `columns`, in order, on white, with a border of two pixels around each. A
/// single image is returned unchanged. Throws the errors of SheetSize, and Error for images of different sizes.
HEADLIGHT_API Image SheetOf(std::span<const Image> images, std::int64_t columns);

}  // namespace headlight
