// The random streams for sampling in pipelines.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headlight {

/// Returns the random stream of a sample for a part of an input. Each index occupies separate bits: an input has fewer
/// than 2^20 parts, and a part at most 2^12 samples.
inline std::uint64_t SampleStream(std::uint64_t input, std::size_t part = 0, std::size_t sample = 0) {
  constexpr unsigned kSampleBits = 12, kPartBits = 20;
  return (input << (kPartBits + kSampleBits)) + (std::uint64_t{part} << kSampleBits) + sample;
}

}  // namespace headlight
