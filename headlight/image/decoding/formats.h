// The decoders of each format. Images come as they are stored, with the metadata that says how they are to be seen;
// where `pixels` is false, only the size and that metadata are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "headlight/image/image.h"

namespace headlight {

struct StoredImage {
  Image image;
  std::string exif = {}, xmp = {};  // empty: the file has none
};

StoredImage DecodeJpeg(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels);
StoredImage DecodePng(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels);
StoredImage DecodeWebp(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels);

// An empty image of this size, with room for its pixels if `pixels`. Throws Error for sizes of 0 and for more than
// most_pixels.
Image NewImage(std::int64_t height, std::int64_t width, const std::string& name, std::int64_t most_pixels, bool pixels);

}  // namespace headlight
