// Relative positions as T5 has them: what a head adds to the score of a query and a key depends on how far they are
// apart (Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", 2020,
// section 2.1).
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
  bool both_directions = true;  // whether queries see later keys; half of the buckets are then for those
  std::int32_t buckets = 32;
  std::int32_t max_distance = 128;  // from where on all distances are in one bucket; more than buckets / 2
};

// The bucket of each distance from a query to a key, [2 * max_distance + 1], -max_distance first. Half of a direction's
// buckets are for a distance each, the others for ranges that grow by powers.
HEADLIGHT_API std::vector<std::int32_t> RelativeBuckets(const RelativePositionsConfig& config);

class HEADLIGHT_API RelativePositions {
 public:
  // Declares weight [buckets, heads].
  RelativePositions(const Scope& scope, const RelativePositionsConfig& config, std::int32_t heads, double deviation);

  // For self-attention, with a cache or without one.
  ops::AttentionBias operator()(Context& context) const;

 private:
  const Parameter* weight_;
  std::shared_ptr<const std::vector<std::int32_t>> buckets_;
};

}  // namespace headlight
