// The size of an image or feature map in cells.
#pragma once

#include <cstdint>

namespace headlight {

struct Grid {
  std::int64_t height = 0, width = 0;
  std::int64_t cells() const { return height * width; }
  bool operator==(const Grid&) const = default;
};

}  // namespace headlight
