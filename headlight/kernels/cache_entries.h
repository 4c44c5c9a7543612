// The storage format of a token's keys and values in a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "headlight/base/export.h"

namespace headlight::kernels {

/// Rows in a block of a cache. A block holds the entries of all rows for the first head, then for the second, and so
/// on. Attention therefore reads the keys of a head contiguously.
inline constexpr std::int32_t kBlockRows = 64;
/// Padding bytes after a block's last entry, because whole vectors are read.
inline constexpr std::int64_t kBlockPadding = 64;

/// The type of cached numbers. bfloat16 and int8 are rounded once, when they are written, and are multiplied in
/// float32.
enum class CacheType : std::uint8_t { unrounded, bfloat16, int8 };

constexpr const char* Name(CacheType type) {
  return type == CacheType::unrounded ? "unrounded" : type == CacheType::bfloat16 ? "bfloat16" : "int8";
}

/// A row has an entry for each head: `dim` numbers; for int8, the scale (a float32, max |x| / 127) and `dim` integers.
template <typename T>
constexpr std::int64_t EntryBytes(CacheType type, std::int64_t dim) {
  return type == CacheType::int8       ? std::int64_t{sizeof(float)} + dim
         : type == CacheType::bfloat16 ? dim * std::int64_t{sizeof(std::uint16_t)}
                                       : dim * std::int64_t{sizeof(T)};
}

/// The offset in its block of a row's entry for a head.
constexpr std::int64_t EntryOffset(std::int64_t row, std::int64_t head, std::int64_t entry_bytes) {
  return (head * kBlockRows + row % kBlockRows) * entry_bytes;
}

/// Writes an entry. A non-finite number makes an int8 entry NaN.
template <typename T>
HEADLIGHT_API void WriteEntry(CacheType type, const T* from, std::int64_t dim, std::byte* to);

inline float ScaleOfEntry(const std::byte* entry) {
  float scale;
  std::memcpy(&scale, entry, sizeof scale);  // may be unaligned
  return scale;
}

}  // namespace headlight::kernels
