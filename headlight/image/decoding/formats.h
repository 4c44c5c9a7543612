// The decoders of each format. Pictures come as they are stored, with the metadata that says how they are to be seen;
// where `pixels` is false, only the size and that metadata are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "headlight/image/picture.h"

namespace headlight {

struct StoredPicture {
  Picture picture;
  std::string exif = {}, xmp = {};  // empty: the file has none
};

StoredPicture DecodeJpeg(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels,
                         bool pixels);
StoredPicture DecodePng(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels,
                        bool pixels);
StoredPicture DecodeWebp(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels,
                         bool pixels);

// An empty picture of this size, with room for its pixels if `pixels`. Throws Error for sizes of 0 and for more than
// most_pixels.
Picture NewPicture(std::int64_t height, std::int64_t width, const std::string& name, std::int64_t most_pixels,
                   bool pixels);

}  // namespace headlight
