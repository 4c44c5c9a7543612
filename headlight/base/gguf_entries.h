// The metadata of a GGUF file as it is in the file, to be written again.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// A key of a file's metadata, and its type and value as they are in the file.
struct GgufEntry {
  std::string key;
  std::span<const std::byte> value;
};

/// The metadata of one file, in its order. Views are into `file`. Throws Error as ParseGguf (base/gguf.h) does.
HEADLIGHT_API std::vector<GgufEntry> ParseGgufEntries(std::span<const std::byte> file, const std::string& source);

}  // namespace headlight
