// How a cache stores the keys and values of a token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "headlight/base/export.h"

namespace headlight::kernels {

// Rows of a block of a cache. A block holds all rows' entries of the first head, then those of the second, ..., so that
// attention reads one head's keys one after another.
inline constexpr std::int32_t kBlockRows = 64;
// Bytes after a block's last entry that are allocated too: whole vectors are read.
inline constexpr std::int64_t kBlockPadding = 64;

// The type of the numbers. bfloat16 and int8 are rounded once, when they are written, and are then multiplied in
// float32.
enum class CacheType : std::uint8_t { unrounded, bfloat16, int8 };

constexpr const char* Name(CacheType type) {
  return type == CacheType::unrounded ? "unrounded" : type == CacheType::bfloat16 ? "bfloat16" : "int8";
}

// A row has an entry for each head: `dim` numbers; with int8 the scale (a float32, max |x| / 127) and `dim` integers.
template <typename T>
constexpr std::int64_t EntryBytes(CacheType type, std::int64_t dim) {
  return type == CacheType::int8       ? std::int64_t{sizeof(float)} + dim
         : type == CacheType::bfloat16 ? dim * std::int64_t{sizeof(std::uint16_t)}
                                       : dim * std::int64_t{sizeof(T)};
}

// The byte in its block where a row's entry for a head begins.
constexpr std::int64_t EntryOffset(std::int64_t row, std::int64_t head, std::int64_t entry_bytes) {
  return (head * kBlockRows + row % kBlockRows) * entry_bytes;
}

// A number that is not finite makes an int8 entry NaN.
template <typename T>
HEADLIGHT_API void WriteEntry(CacheType type, const T* from, std::int64_t dim, std::byte* to);

inline float ScaleOfEntry(const std::byte* entry) {
  float scale;
  std::memcpy(&scale, entry, sizeof scale);  // which need not be aligned
  return scale;
}

}  // namespace headlight::kernels
