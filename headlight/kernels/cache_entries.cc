#include "headlight/kernels/cache_entries.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <vector>

#include "headlight/kernels/int8.h"

namespace headlight::kernels {
namespace {

// Rounds to bfloat16 (to nearest, ties to even), on any processor.
std::uint16_t RoundToBfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);  // NaN stays NaN
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

template <typename T>
void WriteEntry(CacheType type, const T* from, std::int64_t dim, std::byte* to) {
  if (type == CacheType::unrounded) {
    std::memcpy(to, from, static_cast<std::size_t>(dim) * sizeof(T));
  } else if constexpr (std::is_same_v<T, double>) {
    const std::vector<float> rounded(from, from + dim);
    WriteEntry(type, rounded.data(), dim, to);
  } else if (type == CacheType::bfloat16) {
    std::transform(from, from + dim, reinterpret_cast<std::uint16_t*>(to), RoundToBfloat16);
  } else {
    const float scale = QuantizeRow(from, dim, reinterpret_cast<std::int8_t*>(to + sizeof(float)));
    std::memcpy(to, &scale, sizeof scale);
  }
}

template void WriteEntry(CacheType, const float*, std::int64_t, std::byte*);
template void WriteEntry(CacheType, const double*, std::int64_t, std::byte*);

}  // namespace headlight::kernels
