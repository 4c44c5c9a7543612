// A hash that detects accidental mix-ups of files. It is not cryptographic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

/// Incremental XXH64 (Collet, "xxHash fast digest algorithm", version 0.1.1). The result does not depend on how the
/// bytes are divided into updates.
class HEADLIGHT_API Hash64 {
 public:
  explicit Hash64(std::uint64_t seed = 0);
  void Update(std::string_view bytes);
  std::uint64_t value() const;

 private:
  std::uint64_t seed_;
  std::array<std::uint64_t, 4> lanes_;
  std::array<char, 32> pending_;  // the bytes after the last complete stripe of 32
  std::uint64_t size_ = 0;        // bytes so far
};

/// Returns the hash of `bytes`.
inline std::uint64_t HashOf(std::string_view bytes) {
  Hash64 hash;
  hash.Update(bytes);
  return hash.value();
}

}  // namespace headlight
