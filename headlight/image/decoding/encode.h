// Encodes images as PNG files.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

/// Returns the bytes of a lossless PNG file with this image. Throws Error for an image without pixels, or if the number
/// of values does not match the size.
HEADLIGHT_API std::string EncodePng(const Image& image);
/// Writes a PNG file to `path` atomically.
HEADLIGHT_API void WritePng(const std::string& path, const Image& image);

}  // namespace headlight
