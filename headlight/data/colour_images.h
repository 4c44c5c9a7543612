// Images of one size with few colours, for image generation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/image/processor.h"

namespace headlight {

struct ColourImages {
  ImageSize size;
  std::vector<std::uint16_t> colours = {};  ///< [images, height, width]: colour index of each pixel

  std::int64_t pixels() const { return size.height * size.width; }  ///< number of pixels per image
  std::int64_t count() const { return std::ssize(colours) / pixels(); }
  std::span<const std::uint16_t> operator[](std::int64_t image) const {
    return std::span(colours).subspan(static_cast<std::size_t>(image * pixels()), static_cast<std::size_t>(pixels()));
  }
};

}  // namespace headlight
