// Resizing as Pillow does it, bit for bit: what published models' images were prepared with.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

// With Pillow's numbers, which preprocessor_config.json has as `resample`.
enum class ResizeFilter { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };

// All filters but nearest weigh the pixels under a window that grows with the reduction (antialiasing): along
// rows and then along columns, or the other way round, with the result between rounded to 8 bits. A side that keeps its
// size is not filtered. Throws Error for sizes below 1.
HEADLIGHT_API Image Resize(const Image& image, std::int64_t height, std::int64_t width, ResizeFilter filter);

}  // namespace headlight
