#include "headlight/cli/bench/bench_texts.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"

namespace headlight {

LengthRange ReadLengths(const char* option, const std::string& text, std::int64_t most) {
  const std::size_t colon = text.find(':');
  const auto number = [&](const std::string& part) {
    const std::int64_t value = IntegerOf(part).value_or(0);
    Check(value >= 1 && value <= most, "{}: {} must be a length or a range of lengths from 1 to {}, such as 10:30",
          option, text, most);
    return value;
  };
  const std::int64_t least = number(text.substr(0, colon));
  const std::int64_t last = colon == std::string::npos ? least : number(text.substr(colon + 1));
  Check(least <= last, "{}: the range {} must not end before it begins", option, text);
  return {least, last};
}

std::vector<std::int32_t> RandomIds(LengthRange lengths, std::int64_t vocabulary, std::span<const std::int32_t> without,
                                    Random& random) {
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(bound)));
  };
  std::vector<std::int32_t> ids;
  for (std::int64_t missing = lengths.least + below(lengths.most - lengths.least + 1); missing > 0;) {
    const auto id = static_cast<std::int32_t>(below(vocabulary));
    if (std::ranges::find(without, id) != without.end()) continue;
    ids.push_back(id);
    --missing;
  }
  return ids;
}

}  // namespace headlight
