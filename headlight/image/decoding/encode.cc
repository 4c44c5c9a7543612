#include "headlight/image/decoding/encode.h"

#include <png.h>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight {

std::string EncodePng(const Picture& picture) {
  constexpr std::int64_t kMost = 1 << 24;  // of either side
  Check(picture.height > 0 && picture.width > 0 && picture.height <= kMost && picture.width <= kMost &&
            std::ssize(picture.pixels) == picture.height * picture.width * 3,
        "a picture of {} x {} with {} values cannot be written", picture.width, picture.height, picture.pixels.size());
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  std::string file(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = file.size();
  if (png_image_write_to_memory(&image, file.data(), &size, /*convert_to_8_bit=*/0, picture.pixels.data(),
                                /*row_stride=*/0, /*colormap=*/nullptr) == 0)
    Fail("a picture of {} x {} cannot be written: {}", picture.width, picture.height, image.message);
  file.resize(size);
  return file;
}

void WritePng(const std::string& path, const Picture& picture) { WriteFile(path, EncodePng(picture)); }

}  // namespace headlight
