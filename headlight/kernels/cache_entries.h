// The storage format of a token's keys and values in a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "headlight/base/export.h"

namespace headlight::kernels {

/// The number of rows in a block of a cache. A block holds the entries of all rows for the first head, then for the
/// second head, and so on. Attention therefore reads the keys of a head contiguously.
inline constexpr std::int32_t kBlockRows = 64;
/// The number of padding bytes after a block's last entry. They are needed because kernels read whole vectors.
inline constexpr std::int64_t kBlockPadding = 64;

/// The type of cached elements. Elements in bfloat16 or int8 are rounded once, when written, and multiplied in float32.
enum class CacheType : std::uint8_t { unrounded, bfloat16, int8 };

constexpr const char* Name(CacheType type) {
  return type == CacheType::unrounded ? "unrounded" : type == CacheType::bfloat16 ? "bfloat16" : "int8";
}

/// Returns the size in bytes of an entry. A row has an entry of `dim` elements for each head. An int8 entry has a scale
/// (a float32, max |x| / 127) and `dim` integers.
template <typename T>
constexpr std::int64_t EntryBytes(CacheType type, std::int64_t dim) {
  return type == CacheType::int8       ? std::int64_t{sizeof(float)} + dim
         : type == CacheType::bfloat16 ? dim * std::int64_t{sizeof(std::uint16_t)}
                                       : dim * std::int64_t{sizeof(T)};
}

/// Returns the byte offset, within its block, of a row's entry for a head.
constexpr std::int64_t EntryOffset(std::int64_t row, std::int64_t head, std::int64_t entry_bytes) {
  return (head * kBlockRows + row % kBlockRows) * entry_bytes;
}

/// Writes an entry. If an element is not finite, all elements of an int8 entry become NaN.
template <typename T>
HEADLIGHT_API void WriteEntry(CacheType type, const T* from, std::int64_t dim, std::byte* to);

inline float ScaleOfEntry(const std::byte* entry) {
  float scale;
  std::memcpy(&scale, entry, sizeof scale);  // may be unaligned
  return scale;
}

}  // namespace headlight::kernels
