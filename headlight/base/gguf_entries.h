// Reads the metadata of a GGUF file in its stored format, so that it can be written again.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// A key of a file's metadata, with its type and value in the format of the file.
struct GgufEntry {
  std::string key;
  std::span<const std::byte> value;
};

/// Parses the metadata of one file, in the order of the file. Views point into `file`. Throws Error in the same cases
/// as ParseGguf (base/gguf.h).
HEADLIGHT_API std::vector<GgufEntry> ParseGgufEntries(std::span<const std::byte> file, const std::string& source);

}  // namespace headlight
