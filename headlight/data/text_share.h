// Texts held out of a training set to validate on.
#pragma once

#include <cstdint>
#include <string_view>

#include "headlight/base/hash.h"

namespace headlight {

// A share of all texts, chosen by a hash of seed and text, or the others. The same text is always on the same side, so
// that none is both learned from and validated on.
struct TextShare {
  double share = 0;  // held out; 0: this has all texts
  std::uint64_t seed = 1;
  bool held_out = false;

  bool Has(std::string_view text) const {
    if (share == 0) return true;
    Hash64 hash(seed);
    hash.Update(text);
    return (static_cast<double>(hash.value() >> 11) * 0x1p-53 < share) == held_out;
  }
};

}  // namespace headlight
