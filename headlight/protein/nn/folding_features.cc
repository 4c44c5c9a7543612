#include "headlight/protein/nn/folding_features.h"

#include <numeric>
#include <utility>

#include "headlight/protein/alignment_features.h"

namespace headlight {

FoldingFeatures FeaturesForModel(const AlignmentFeatures& drawn, std::vector<std::int32_t> positions,
                                 std::vector<TemplateFeatures> templates) {
  if (positions.empty()) {
    positions.resize(drawn.types.size());
    std::iota(positions.begin(), positions.end(), 0);
  }
  return {.types = drawn.types,
          .positions = std::move(positions),
          .target = drawn.target,
          .alignment = drawn.alignment,
          .present = {},
          .extra = drawn.extra,
          .templates = std::move(templates),
          .covariation = {}};
}

}  // namespace headlight
