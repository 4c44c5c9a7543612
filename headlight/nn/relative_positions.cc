#include "headlight/nn/relative_positions.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"

namespace headlight {

std::vector<std::int32_t> RelativeBuckets(const RelativePositionsConfig& config) {
  const auto [both_directions, buckets, max_distance] = config;
  Check(buckets >= 4 && max_distance > buckets / 2 && max_distance <= (1 << 16),
        "relative positions need at least 4 buckets, and a maximum distance of more than half as many and at most {}, "
        "not {} and {}",
        1 << 16, buckets, max_distance);
  const std::int32_t of_direction = both_directions ? buckets / 2 : buckets, exact = of_direction / 2;
  std::vector<std::int32_t> result;
  for (std::int32_t distance = -max_distance; distance <= max_distance; ++distance) {
    const bool later = distance > 0;
    const std::int32_t far = both_directions ? std::abs(distance) : std::max(0, -distance);
    std::int32_t bucket = far;
    if (far >= exact) {  // in single precision, as in training
      const float share = std::log(static_cast<float>(far) / static_cast<float>(exact)) /
                          static_cast<float>(std::log(static_cast<double>(max_distance) / exact));
      bucket = std::min(exact + static_cast<std::int32_t>(share * static_cast<float>(of_direction - exact)),
                        of_direction - 1);
    }
    result.push_back(bucket + (both_directions && later ? of_direction : 0));
  }
  return result;
}

RelativePositions::RelativePositions(const Scope& scope, const RelativePositionsConfig& config, std::int32_t heads,
                                     double deviation)
    : weight_(&scope.Declare("weight", {config.buckets, heads}, Initialization::Normal(deviation))),
      buckets_(std::make_shared<const std::vector<std::int32_t>>(RelativeBuckets(config))) {}

ops::AttentionBias RelativePositions::operator()(Context& context) const {
  return {.values = context.Use(*weight_), .by = kernels::BiasIndexing::distances, .index = buckets_};
}

}  // namespace headlight
