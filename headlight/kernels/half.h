// IEEE 754 binary16: a sign, 5 bits of exponent biased by 15, 10 bits of fraction.
#pragma once

#include <bit>
#include <cstdint>

namespace headlight::kernels {

/// The float that these bits are; infinities and NaN stay such.
inline float FloatOfHalf(std::uint16_t bits) {
  const std::uint32_t exponent = bits >> 10 & 0x1fU, fraction = bits & 0x3ffU;
  const std::uint32_t biased = exponent == 31 ? 255 : exponent + 127 - 15;         // a float's bias is 127
  const float magnitude = exponent == 0 ? static_cast<float>(fraction) * 0x1p-24F  // subnormal
                                        : std::bit_cast<float>(biased << 23 | fraction << 13);
  return bits >> 15 != 0 ? -magnitude : magnitude;
}

}  // namespace headlight::kernels
