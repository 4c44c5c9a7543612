#include "headlight/base/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace headlight {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F, kPrime3 = 0x165667B19E3779F9,
                        kPrime4 = 0x85EBCA77C2B2AE63, kPrime5 = 0x27D4EB2F165667C5;

template <typename Word>
Word Load(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  Word word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

std::uint64_t Round(std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * kPrime2, 31) * kPrime1; }

void AddStripe(std::array<std::uint64_t, 4>& lanes, const char* bytes) {
  for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = Round(lanes[lane], Load<std::uint64_t>(bytes + 8 * lane));
}

}  // namespace

Hash64::Hash64(std::uint64_t seed)
    : seed_(seed), lanes_{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1} {}

void Hash64::Update(std::string_view bytes) {
  const std::size_t held = size_ % 32;
  size_ += bytes.size();
  if (held > 0) {
    const std::size_t taken = std::min(32 - held, bytes.size());
    bytes.copy(pending_.data() + held, taken);
    bytes.remove_prefix(taken);
    if (held + taken < 32) return;
    AddStripe(lanes_, pending_.data());
  }
  for (; bytes.size() >= 32; bytes.remove_prefix(32)) AddStripe(lanes_, bytes.data());
  bytes.copy(pending_.data(), bytes.size());
}

std::uint64_t Hash64::value() const {
  std::uint64_t hash = seed_ + kPrime5;
  if (size_ >= 32) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) hash = (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
  }
  hash += size_;

  std::string_view tail(pending_.data(), size_ % 32);
  for (; tail.size() >= 8; tail.remove_prefix(8))
    hash = std::rotl(hash ^ Round(0, Load<std::uint64_t>(tail.data())), 27) * kPrime1 + kPrime4;
  if (tail.size() >= 4) {
    hash = std::rotl(hash ^ Load<std::uint32_t>(tail.data()) * kPrime1, 23) * kPrime2 + kPrime3;
    tail.remove_prefix(4);
  }
  for (const char byte : tail) hash = std::rotl(hash ^ static_cast<unsigned char>(byte) * kPrime5, 11) * kPrime1;

  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace headlight
