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

/// Decodes an image to RGB with its orientation applied, with the results of Pillow's exif_transpose and
/// convert("RGB"): transparency is dropped, 16-bit values keep the upper eight bits, and an animation gives its first
/// frame. The format is detected from the first bytes. Throws Error, which begins with `name`, for other formats, for a
/// file that is damaged or ends early, and for more than most_pixels, before they are allocated.
HEADLIGHT_API Image DecodeImage(std::span<const std::byte> file, const std::string& name,
                                std::int64_t most_pixels = kMostPixels);
HEADLIGHT_API Image ReadImage(const std::string& path, std::int64_t most_pixels = kMostPixels);
/// The size of the decoded image. Most of the file, such as the pixels, is not read and may be damaged.
HEADLIGHT_API ImageSize DecodeImageSize(std::span<const std::byte> file, const std::string& name,
                                        std::int64_t most_pixels = kMostPixels);
HEADLIGHT_API ImageSize ReadImageSize(const std::string& path, std::int64_t most_pixels = kMostPixels);
/// Reads an image that ListImages returned. Errors begin with its name. Standard input is read to its end, so that it
/// is empty the next time.
HEADLIGHT_API Image ReadImage(const ImageSource& source, std::int64_t most_pixels = kMostPixels);

}  // namespace headlight
