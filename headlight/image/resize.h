// Resizes images, bit for bit equal to Pillow. Published models were trained on images resized by Pillow.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

/// The filters, numbered as in Pillow and in the key `resample` of preprocessor_config.json.
enum class ResizeFilter { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };

/// Resizes the image. All filters except nearest have a window that grows with the reduction factor (antialiasing).
/// Rows and columns are filtered separately, and intermediate results are rounded to 8 bits. A side whose size does not
/// change is not filtered. Throws Error for sizes below 1.
HEADLIGHT_API Image Resize(const Image& image, std::int64_t height, std::int64_t width, ResizeFilter filter);

}  // namespace headlight
