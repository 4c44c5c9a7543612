// Dropout without a stored mask: the mask is a pure function of (seed, row, column), which the backward pass
// recomputes. The mask is the same for any vector length or number of threads. Kernels use the vectorized functions of
// dropout_hash-inl.h. The functions below are the scalar equivalents, with the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace headlight {

/// The probability and the random seed of dropout.
struct Dropout {
  /// The probability of dropping an element, in [0, 1). Kept elements are divided by 1 - probability.
  double probability = 0;
  std::uint64_t seed = 0;
};

/// The hash key for the columns of one row.
struct DropoutKey {
  std::uint32_t first = 0, second = 0;
};

/// Computes the finalizer of SplitMix64 (Steele et al., "Fast Splittable Pseudorandom Number Generators", 2014), which
/// is a bijection.
constexpr std::uint64_t MixBits(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

/// Returns the hash key of a row. Rows and seeds may be small consecutive numbers. If a row index has several
/// components, the caller must mix them one by one.
constexpr DropoutKey RowDropoutKey(std::uint64_t seed, std::uint64_t row) {
  const std::uint64_t bits = MixBits(MixBits(seed + 0x9E3779B97F4A7C15u) + (row + 1) * 0x9E3779B97F4A7C15u);
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}

/// Returns 32 uniform bits for a column, using two rounds of multiply and shift (constants: C. Wellons, "Prospecting
/// for Hash Functions", 2018). The key is mixed in before each round. If it were mixed in only once, two rows would
/// have the same bits in a different order.
constexpr std::uint32_t DropoutBits(DropoutKey key, std::uint32_t column) {
  std::uint32_t bits = column ^ key.first;
  bits = (bits ^ (bits >> 16)) * 0x7FEB352Du;
  bits = ((bits ^ (bits >> 15)) + key.second) * 0x846CA68Bu;
  return bits ^ (bits >> 16);
}

/// Returns the threshold for a probability. An element is dropped if its bits are below the threshold.
inline std::uint32_t DropoutThreshold(double probability) {
  return static_cast<std::uint32_t>(std::min(std::nearbyint(probability * 0x1p32), 0x1p32 - 1));
}

}  // namespace headlight
