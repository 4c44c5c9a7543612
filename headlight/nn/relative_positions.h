// T5's relative positions. A bias per head and distance is added to the score of a query and a key (Raffel et al.,
// "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", 2020, section 2.1).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/context.h"
#include "headlight/nn/parameters.h"
#include "headlight/ops/attention.h"

namespace headlight {

struct RelativePositionsConfig {
  bool both_directions = true;  ///< if true, queries attend to later keys, which then use half of the buckets
  std::int32_t buckets = 32;
  std::int32_t max_distance = 128;  ///< distances of at least this value share one bucket; must be above buckets / 2
};

/// Returns the bucket of each distance from query to key, [2 * max_distance + 1], beginning with -max_distance. Half of
/// a direction's buckets hold one distance each. The other buckets hold logarithmically growing ranges.
HEADLIGHT_API std::vector<std::int32_t> RelativeBuckets(const RelativePositionsConfig& config);

/// A trained bias for each bucket and head.
class HEADLIGHT_API RelativePositions {
 public:
  /// Declares weight [buckets, heads].
  RelativePositions(const Scope& scope, const RelativePositionsConfig& config, std::int32_t heads, double deviation);

  /// Returns the bias for self-attention, with or without a cache.
  ops::AttentionBias operator()(Context& context) const;

 private:
  const Parameter* weight_;
  std::shared_ptr<const std::vector<std::int32_t>> buckets_;
};

}  // namespace headlight
