#include "headlight/base/random.h"

#include <cmath>
#include <numbers>

namespace headlight {

std::array<std::uint32_t, 4> Philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

std::uint64_t Random::operator()() {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const auto words = Philox({low(position_), high(position_), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
  ++position_;
  return words[0] | std::uint64_t{words[1]} << 32;
}

std::uint64_t Random::Below(std::uint64_t limit) {
  // Lemire's method ("Fast Random Integer Generation in an Interval", 2019) rejects the rare samples that would bias
  // the result.
  using Wide = unsigned __int128;
  Wide product = Wide{(*this)()} * limit;
  if (static_cast<std::uint64_t>(product) < limit) {
    const std::uint64_t threshold = -limit % limit;
    while (static_cast<std::uint64_t>(product) < threshold) product = Wide{(*this)()} * limit;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::Uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

double Random::Normal() {
  // The method of Box and Muller (1958). 1 - u avoids the logarithm of zero.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

}  // namespace headlight
