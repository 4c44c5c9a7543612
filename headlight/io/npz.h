// Named arrays as NumPy's savez and savez_compressed write them: a zip archive of .npy files
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1.0 to 3.0).
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/safetensors.h"

namespace headlight {

struct NpzContent {
  std::vector<StoredTensor> tensors;                 // in the archive's order, under their names without .npy
  std::deque<std::vector<std::byte>> inflated = {};  // the memory of those that are compressed
};

// The arrays of an archive's bytes, of which they are views where they are not compressed. Little-endian float32 in C
// order alone, entries stored or deflated. Every entry is held against its checksum. Throws Error naming `source`, the
// entry and the rule for everything else, for entries that overlap or whose sizes do not fit, and for two of one name;
// memory is bounded by what deflate can hold in the entry's bytes.
HEADLIGHT_API NpzContent ParseNpz(std::span<const std::byte> file, const std::string& source);

// The names of the arrays in the file at `path`, by the archive's directory alone.
HEADLIGHT_API std::vector<std::string> NamesInNpz(const std::string& path);

// All of the file at `path`, mapped.
HEADLIGHT_API Safetensors ReadNpz(const std::string& path);

}  // namespace headlight
