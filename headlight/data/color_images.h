// Images of one size with few colors, for image generation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/image/processor.h"

namespace headlight {

struct ColorImages {
  ImageSize size;
  std::vector<std::uint16_t> colors = {};  ///< [images, height, width]: color index of each pixel

  std::int64_t pixels() const { return size.height * size.width; }  ///< number of pixels per image
  std::int64_t count() const { return std::ssize(colors) / pixels(); }
  std::span<const std::uint16_t> operator[](std::int64_t image) const {
    return std::span(colors).subspan(static_cast<std::size_t>(image * pixels()), static_cast<std::size_t>(pixels()));
  }
};

}  // namespace headlight
