// The orientation in which a camera has stored an image, as Exif and XMP describe it.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

// True where Exif data, with or without "Exif\0\0" before it, begins as it must.
HEADLIGHT_API bool IsExif(std::string_view exif);

// 1 to 8, as in the Exif standard (tag 0x0112); 1 where neither says. `xmp` is a packet of XML, read where Exif has
// no orientation. Throws Error where `exif` is neither empty nor Exif data.
HEADLIGHT_API int OrientationOf(std::string_view exif, std::string_view xmp, const std::string& name);

// The image as it is to be seen, from one that was stored with this orientation.
HEADLIGHT_API Image Upright(Image image, int orientation);
HEADLIGHT_API ImageSize UprightSize(ImageSize stored, int orientation);

}  // namespace headlight
