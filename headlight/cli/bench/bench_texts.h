// Random token ids, for benchmarks of models without a tokenizer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/random.h"

namespace headlight {

struct LengthRange {
  std::int64_t least = 0, most = 0;
};

// Parses an option such as "10:30" or "20". Throws Error unless it is a range of lengths from 1 to `most`.
LengthRange ReadLengths(const char* option, const std::string& text, std::int64_t most);

// Ids below `vocabulary`, of a random number in the range, without those in `without`.
std::vector<std::int32_t> RandomIds(LengthRange lengths, std::int64_t vocabulary, std::span<const std::int32_t> without,
                                    Random& random);

}  // namespace headlight
