// T5's relative positions: a bias per head and distance, added to the score of a query and a key (Raffel et al.,
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

/// The configuration of RelativePositions.
struct RelativePositionsConfig {
  bool both_directions = true;  ///< whether queries see later keys, which then use half of the buckets
  std::int32_t buckets = 32;
  std::int32_t max_distance = 128;  ///< distances from here on share one bucket; more than buckets / 2
};

/// The bucket of each distance from query to key, [2 * max_distance + 1], starting at -max_distance. Half of a
/// direction's buckets hold one distance each; the others hold logarithmically growing ranges.
HEADLIGHT_API std::vector<std::int32_t> RelativeBuckets(const RelativePositionsConfig& config);

/// A trained bias per bucket and head.
class HEADLIGHT_API RelativePositions {
 public:
  /// Declares weight [buckets, heads].
  RelativePositions(const Scope& scope, const RelativePositionsConfig& config, std::int32_t heads, double deviation);

  /// The bias for self-attention, with or without a cache.
  ops::AttentionBias operator()(Context& context) const;

 private:
  const Parameter* weight_;
  std::shared_ptr<const std::vector<std::int32_t>> buckets_;
};

}  // namespace headlight
