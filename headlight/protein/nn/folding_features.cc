#include "headlight/protein/nn/folding_features.h"

#include <numeric>
#include <utility>

#include "headlight/protein/alignment_features.h"

namespace headlight {

FoldingFeatures FeaturesForModel(const AlignmentFeatures& drawn, std::vector<std::int32_t> places,
                                 std::vector<TemplateFeatures> templates) {
  if (places.empty()) {
    places.resize(drawn.types.size());
    std::iota(places.begin(), places.end(), 0);
  }
  return {.types = drawn.types,
          .places = std::move(places),
          .target = drawn.target,
          .alignment = drawn.alignment,
          .present = {},
          .extra = drawn.extra,
          .templates = std::move(templates),
          .covariation = {}};
}

}  // namespace headlight
