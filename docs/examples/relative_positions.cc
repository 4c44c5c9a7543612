// Prints which distances share a bucket in T5's relative position bias.
#include "headlight/nn/relative_positions.h"

#include <fmt/format.h>

using namespace headlight;

int main() {
  const RelativePositionsConfig config{.both_directions = false, .buckets = 12, .max_distance = 64};
  const std::vector<std::int32_t> buckets = RelativeBuckets(config);
  const auto bucket_of = [&](std::int32_t words_before) {
    return buckets[static_cast<std::size_t>(config.max_distance - words_before)];
  };
  for (std::int32_t first = 0, last; first <= config.max_distance; first = last + 1) {
    for (last = first; last < config.max_distance && bucket_of(last + 1) == bucket_of(first);) ++last;
    fmt::print("bucket {:2}: {}", bucket_of(first), first);
    if (last == config.max_distance)
      fmt::print(" and more");
    else if (last > first)
      fmt::print(" to {}", last);
    fmt::print(" back\n");
  }
}
