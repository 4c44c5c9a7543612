// A range of bytes of a text.
#pragma once

#include <cstdint>

namespace headlight {

/// The bytes [begin, end) of a text.
struct TextSpan {
  std::int32_t begin = 0, end = 0;
  bool operator==(const TextSpan&) const = default;
};

}  // namespace headlight
