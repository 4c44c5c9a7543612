// Divides texts into a training set and a held-out set.
#pragma once

#include <cstdint>
#include <string_view>

#include "headlight/base/hash.h"

namespace headlight {

/// Selects a held-out fraction of all texts, or all other texts, by a hash of the seed and the text. Equal texts are
/// always in the same set, so that no text is used both for training and validation.
struct TextShare {
  double share = 0;  ///< the held-out fraction; 0: use all texts
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
