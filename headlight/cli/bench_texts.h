// Texts that nobody wrote, for benchmarks of models that have no tokenizer.
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

// Of the option's text, "10:30" or "20". Throws Error for what is no range of lengths from 1 to `most`.
LengthRange ReadLengths(const char* option, const std::string& text, std::int64_t most);

// A text of a random length: ids below `vocabulary`, none of them one of `without`.
std::vector<std::int32_t> RandomIds(LengthRange lengths, std::int64_t vocabulary, std::span<const std::int32_t> without,
                                    Random& random);

}  // namespace headlight
