// Images from files: JPEG, PNG, WebP, BMP, GIF and TIFF.
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

// The image that a file holds, as it is to be seen (its orientation is applied), in red, green and blue as Pillow's
// exif_transpose and convert("RGB") give them: transparency is dropped, of 16 bits the upper eight remain, of an
// animation the first frame. The format is told by the first bytes. Throws Error, which begins with `name`, for another
// format, for a file that is damaged or ends early, and for more than most_pixels, before they are allocated.
HEADLIGHT_API Image DecodeImage(std::span<const std::byte> file, const std::string& name,
                                std::int64_t most_pixels = kMostPixels);
HEADLIGHT_API Image ReadImage(const std::string& path, std::int64_t most_pixels = kMostPixels);
// That image's size, without its pixels, which may be damaged: most of the file is not read.
HEADLIGHT_API ImageSize DecodeImageSize(std::span<const std::byte> file, const std::string& name,
                                        std::int64_t most_pixels = kMostPixels);
HEADLIGHT_API ImageSize ReadImageSize(const std::string& path, std::int64_t most_pixels = kMostPixels);
// One of ListImages; errors begin with its name. Standard input is read to its end, and so is empty the next time.
HEADLIGHT_API Image ReadImage(const ImageSource& source, std::int64_t most_pixels = kMostPixels);

}  // namespace headlight
