// Arranges images in a grid on one sheet.
#pragma once

#include <cstdint>
#include <span>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

/// Returns the size of a sheet with `count` images of the same size. Throws Error if there are no images, or if the
/// sheet has more than 100 million pixels.
HEADLIGHT_API ImageSize SheetSize(ImageSize image, std::int64_t count, std::int64_t columns);

/// Arranges images of the same size in rows of `columns`, in order. The background is white, and each image has a
/// border of two pixels. A single image is returned unchanged. Throws the errors of SheetSize, and Error for images of
/// different sizes.
HEADLIGHT_API Image SheetOf(std::span<const Image> images, std::int64_t columns);

}  // namespace headlight
