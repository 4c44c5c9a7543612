// Defines an image in memory.
#pragma once

#include <cstdint>
#include <vector>

namespace headlight {

struct ImageSize {
  std::int64_t height = 0, width = 0;  ///< in pixels
  bool operator==(const ImageSize&) const = default;
};

struct Image {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels = {};  ///< [height, width, 3] red, green and blue

  std::uint8_t* row(std::int64_t y) { return pixels.data() + y * width * 3; }
  const std::uint8_t* row(std::int64_t y) const { return pixels.data() + y * width * 3; }
  bool operator==(const Image&) const = default;
};

}  // namespace headlight
