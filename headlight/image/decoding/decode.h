// Decodes image files: JPEG, PNG, WebP, BMP, GIF and TIFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/image/image_files.h"

namespace headlight {

constexpr std::int64_t kMostPixels = 100'000'000;

/// Decodes an image to RGB and applies its orientation. The result is equal to the result of Pillow's exif_transpose
/// and convert("RGB"). Transparency is dropped, 16-bit values are reduced to their upper eight bits, and only the first
/// frame of an animation is decoded. The format is detected from the first bytes. Throws Error, with a message that
/// begins with `name`, for other formats and for a file that is damaged or truncated. Also throws Error if the image
/// has more than `most_pixels`, before memory for them is allocated.
HEADLIGHT_API Image DecodeImage(std::span<const std::byte> file, const std::string& name,
                                std::int64_t most_pixels = kMostPixels);
HEADLIGHT_API Image ReadImage(const std::string& path, std::int64_t most_pixels = kMostPixels);
/// Returns the size of the decoded image. Most of the file, such as the pixels, is not read and may be damaged.
HEADLIGHT_API ImageSize DecodeImageSize(std::span<const std::byte> file, const std::string& name,
                                        std::int64_t most_pixels = kMostPixels);
HEADLIGHT_API ImageSize ReadImageSize(const std::string& path, std::int64_t most_pixels = kMostPixels);
/// Reads an image that ListImages returned. Error messages begin with the image's name. Standard input is consumed, so
/// it can be read only once.
HEADLIGHT_API Image ReadImage(const ImageSource& source, std::int64_t most_pixels = kMostPixels);

}  // namespace headlight
