// Dropout without a stored mask: whether an element is dropped is a pure function of (seed, row, column). The backward
// pass recomputes it, and it is the same for any vector length or thread count. Kernels compute vectors of it
// (dropout_hash-inl.h); these are the scalar equivalents, bit for bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace headlight {

/// A dropout with its random stream.
struct Dropout {
  double probability = 0;  ///< of dropping an element, in [0, 1); others are multiplied by 1 / (1 - probability)
  std::uint64_t seed = 0;
};

/// The key that hashes the columns of one row.
struct DropoutKey {
  std::uint32_t first = 0, second = 0;
};

/// The finaliser of SplitMix64 (Steele et al., "Fast Splittable Pseudorandom Number Generators", 2014): a bijection.
constexpr std::uint64_t MixBits(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

/// Rows and seeds may be small consecutive numbers. The caller mixes the parts of a multi-part row index one by one.
constexpr DropoutKey RowDropoutKey(std::uint64_t seed, std::uint64_t row) {
  const std::uint64_t bits = MixBits(MixBits(seed + 0x9E3779B97F4A7C15u) + (row + 1) * 0x9E3779B97F4A7C15u);
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}

/// 32 uniform bits for a column: two rounds of multiply and shift (constants: C. Wellons, "Prospecting for Hash
/// Functions", 2018). The key is mixed in before each round; with only one mixing, two rows would have the same bits
/// permuted.
constexpr std::uint32_t DropoutBits(DropoutKey key, std::uint32_t column) {
  std::uint32_t bits = column ^ key.first;
  bits = (bits ^ (bits >> 16)) * 0x7FEB352Du;
  bits = ((bits ^ (bits >> 15)) + key.second) * 0x846CA68Bu;
  return bits ^ (bits >> 16);
}

/// An element is dropped if its bits are below this.
inline std::uint32_t DropoutThreshold(double probability) {
  return static_cast<std::uint32_t>(std::min(std::nearbyint(probability * 0x1p32), 0x1p32 - 1));
}

}  // namespace headlight
