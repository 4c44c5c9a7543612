// Pictures to files: PNG.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/image/picture.h"

namespace headlight {

// The bytes of a PNG file with this picture, without loss. Throws Error for a picture without pixels, or with more or
// fewer than its size says.
HEADLIGHT_API std::string EncodePng(const Picture& picture);
// Writes them to the file at `path`, whole or not at all.
HEADLIGHT_API void WritePng(const std::string& path, const Picture& picture);

}  // namespace headlight
