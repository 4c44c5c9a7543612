// Determines and applies an image's orientation, given by Exif and XMP metadata.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

/// Returns true if Exif data begins correctly, with or without a preceding "Exif\0\0".
HEADLIGHT_API bool IsExif(std::string_view exif);

/// Returns the orientation from 1 to 8, as in the Exif standard (tag 0x0112), or 1 if it is not given. `xmp` is an XML
/// packet, which is used if the Exif data has no orientation. Throws Error if `exif` is neither empty nor Exif data.
HEADLIGHT_API int OrientationOf(std::string_view exif, std::string_view xmp, const std::string& name);

/// Returns the upright image, given an image that was stored with this orientation.
HEADLIGHT_API Image Upright(Image image, int orientation);
HEADLIGHT_API ImageSize UprightSize(ImageSize stored, int orientation);

}  // namespace headlight
