// Declares the decoder of each format. A decoder returns the stored image, without applying the orientation, and the
// orientation metadata. Transparent images are blended with white. Only the first frame of an animation and the first
// image of a TIFF file are decoded. If `pixels` is false, only the size and the metadata are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "headlight/image/image.h"

namespace headlight {

struct StoredImage {
  Image image;
  std::string exif = {}, xmp = {};  // empty if the file has no such metadata
  int orientation = 0;              // as in Exif; 0 if `exif` or `xmp` specifies the orientation
};

StoredImage DecodeJpeg(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels);
StoredImage DecodePng(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels);
StoredImage DecodeBmp(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels);
StoredImage DecodeGif(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels);
StoredImage DecodeTiff(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels);
StoredImage DecodeWebp(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels);

/// Returns an image of this size, with memory for its pixels if `pixels` is true. Throws Error for sizes of 0 and for
/// more than `most_pixels`.
Image NewImage(std::int64_t height, std::int64_t width, const std::string& name, std::int64_t most_pixels, bool pixels);

/// Blends a pixel with white: round((color * alpha + 255 * (255 - alpha)) / 255).
inline void PutOverWhite(std::uint8_t* rgb, std::uint8_t alpha) {
  for (int channel = 0; channel < 3; ++channel)
    rgb[channel] = static_cast<std::uint8_t>((rgb[channel] * alpha + 255 * (255 - alpha) + 127) / 255);
}

}  // namespace headlight
