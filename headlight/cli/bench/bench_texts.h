// Generates random token ids for benchmarks, so that they need no tokenizer.
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

// Parses a range such as "10:30" or a length such as "20". Throws Error unless all lengths are between 1 and `most`.
LengthRange ReadLengths(const char* option, const std::string& text, std::int64_t most);

// Returns random ids below `vocabulary` that are not in `without`. The number of ids is random within `lengths`.
std::vector<std::int32_t> RandomIds(LengthRange lengths, std::int64_t vocabulary, std::span<const std::int32_t> without,
                                    Random& random);

}  // namespace headlight
