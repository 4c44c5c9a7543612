// The size of an image or feature map in cells.
#pragma once

#include <cstdint>

namespace headlight {

/// Height and width in cells, such as pixels or patches.
struct Grid {
  std::int64_t height = 0, width = 0;
  std::int64_t cells() const { return height * width; }
  bool operator==(const Grid&) const = default;
};

}  // namespace headlight
