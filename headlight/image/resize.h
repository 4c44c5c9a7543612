// Resizing, bit for bit equal to Pillow, with which the images of published models were prepared.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

/// Values are Pillow's, which preprocessor_config.json has as `resample`.
enum class ResizeFilter { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };

/// All filters except nearest use a window that grows with the reduction (antialiasing). They filter rows and then
/// columns, or the reverse, with intermediate results rounded to 8 bits. A side whose size does not change is not
/// filtered. Throws Error for sizes below 1.
HEADLIGHT_API Image Resize(const Image& image, std::int64_t height, std::int64_t width, ResizeFilter filter);

}  // namespace headlight
