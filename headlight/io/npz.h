// Named arrays of NumPy's savez and savez_compressed: a zip archive of .npy files
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
  std::vector<StoredTensor> tensors;                 ///< in the archive's order; names have no suffix .npy
  std::deque<std::vector<std::byte>> inflated = {};  ///< the memory of compressed arrays
};

/// Parses the arrays of an archive. Uncompressed arrays are views of `file`. Supports only little-endian float32 in C
/// order, in stored or deflated entries. Checksums are verified. Throws Error naming `source`, the entry and the rule
/// for other data, for entries that overlap or have wrong sizes, and for duplicate names. Memory is bounded by the
/// maximum ratio of deflate.
HEADLIGHT_API NpzContent ParseNpz(std::span<const std::byte> file, const std::string& source);

/// Returns the names of the arrays in the file at `path`. Reads only the archive's directory.
HEADLIGHT_API std::vector<std::string> NamesInNpz(const std::string& path);

/// Reads all arrays of the file at `path`, which is memory-mapped.
HEADLIGHT_API Safetensors ReadNpz(const std::string& path);

}  // namespace headlight
