// Shared by the tests of pictures.
#pragma once

#include <cstdint>

#include "headlight/image/picture.h"

namespace headlight {

// The picture of the goldens that tools/make_picture_goldens.py and make_picture_processor_goldens.py make.
inline Picture Pattern(std::int64_t width, std::int64_t height) {
  Picture picture{.height = height, .width = width};
  for (std::int64_t i = 0; i < width * height * 3; ++i)
    picture.pixels.push_back(static_cast<std::uint8_t>((i * i / 7 + 31 * i) % 256));
  return picture;
}

}  // namespace headlight
