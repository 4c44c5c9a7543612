// Random numbers as a function of (seed, stream, counter), so that a run can be repeated and resumed exactly.
#pragma once

#include <array>
#include <cstdint>

#include "headlight/base/export.h"

namespace headlight {

/// Computes Philox-4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011).
HEADLIGHT_API std::array<std::uint32_t, 4> Philox(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key);

/// A random stream. The whole state consists of three integers, which checkpoints save.
class HEADLIGHT_API Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t position = 0)
      : seed_(seed), stream_(stream), position_(position) {}

  std::uint64_t operator()();                ///< 64 uniform bits
  std::uint64_t Below(std::uint64_t limit);  ///< uniform in [0, limit), unbiased; limit > 0
  double Uniform();                          ///< uniform in [0, 1)
  double Normal();                           ///< mean 0, variance 1
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

  std::uint64_t seed() const { return seed_; }
  std::uint64_t stream() const { return stream_; }
  std::uint64_t position() const { return position_; }

 private:
  std::uint64_t seed_, stream_, position_;
};

}  // namespace headlight
