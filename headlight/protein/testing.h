// Shared by this room's tests.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace headlight {

// Writes the text at the path, which it returns.
inline std::string WriteText(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace headlight
