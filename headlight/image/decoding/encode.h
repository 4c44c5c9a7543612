// Encodes images as PNG files.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

/// The bytes of a PNG file with this image, without loss. Throws Error for an image without pixels, or whose number of
/// values does not match its size.
HEADLIGHT_API std::string EncodePng(const Image& image);
/// Writes a PNG file to `path` atomically.
HEADLIGHT_API void WritePng(const std::string& path, const Image& image);

}  // namespace headlight
