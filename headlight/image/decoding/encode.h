// Images to files: PNG.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

// The bytes of a PNG file with this image, without loss. Throws Error for an image without pixels, or with more or
// fewer than its size says.
HEADLIGHT_API std::string EncodePng(const Image& image);
// Writes them to the file at `path`, whole or not at all.
HEADLIGHT_API void WritePng(const std::string& path, const Image& image);

}  // namespace headlight
