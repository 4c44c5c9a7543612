// Conversions of IEEE 754 binary16, which has a sign, 5 bits of exponent biased by 15, and 10 bits of fraction.
#pragma once

#include <bit>
#include <cstdint>

namespace headlight::kernels {

inline constexpr float kLargestHalf = 65504;

/// Converts a half to float. Infinities and NaN are preserved.
inline float FloatOfHalf(std::uint16_t bits) {
  const std::uint32_t exponent = bits >> 10 & 0x1fU, fraction = bits & 0x3ffU;
  const std::uint32_t biased = exponent == 31 ? 255 : exponent + 127 - 15;         // the exponent bias of float is 127
  const float magnitude = exponent == 0 ? static_cast<float>(fraction) * 0x1p-24F  // subnormal
                                        : std::bit_cast<float>(biased << 23 | fraction << 13);
  return bits >> 15 != 0 ? -magnitude : magnitude;
}

/// Converts a float to the nearest half, ties to even. Numbers that are too large become infinity. NaN is preserved.
inline std::uint16_t HalfOfFloat(float number) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(number), magnitude = bits & 0x7fffffffU;
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  if (magnitude >= 0x47800000U)  // at least 2^16, or NaN
    return sign | (magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U);
  if (magnitude < 0x38800000U) {  // below 2^-14: adding 1/2 leaves a multiple of 2^-24 in the last bits
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(sum) - 0x3f000000U);
  }
  const std::uint32_t odd = magnitude >> 13 & 1;
  return sign | static_cast<std::uint16_t>((magnitude - 0x38000000U + 0xfffU + odd) >> 13);
}

}  // namespace headlight::kernels
