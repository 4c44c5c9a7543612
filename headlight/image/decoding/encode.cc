#include "headlight/image/decoding/encode.h"

#include <png.h>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight {

std::string EncodePng(const Image& image) {
  constexpr std::int64_t kMost = 1 << 24;  // the maximum height and width
  Check(image.height > 0 && image.width > 0 && image.height <= kMost && image.width <= kMost &&
            std::ssize(image.pixels) == image.height * image.width * 3,
        "an image of {} x {} with {} values cannot be written", image.width, image.height, image.pixels.size());
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGB;
  std::string file(PNG_IMAGE_PNG_SIZE_MAX(png), '\0');
  png_alloc_size_t size = file.size();
  if (png_image_write_to_memory(&png, file.data(), &size, /*convert_to_8_bit=*/0, image.pixels.data(),
                                /*row_stride=*/0, /*colormap=*/nullptr) == 0)
    Fail("an image of {} x {} cannot be written: {}", image.width, image.height, png.message);
  file.resize(size);
  return file;
}

void WritePng(const std::string& path, const Image& image) { WriteFile(path, EncodePng(image)); }

}  // namespace headlight
