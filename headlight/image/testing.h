// Helpers shared by the tests of images.
#pragma once

#include <cstdint>

#include "headlight/image/image.h"

namespace headlight {

// Returns the test image that tools/make_image_goldens.py and make_image_processor_goldens.py use.
inline Image Pattern(std::int64_t width, std::int64_t height) {
  Image image{.height = height, .width = width};
  for (std::int64_t i = 0; i < width * height * 3; ++i)
    image.pixels.push_back(static_cast<std::uint8_t>((i * i / 7 + 31 * i) % 256));
  return image;
}

}  // namespace headlight
