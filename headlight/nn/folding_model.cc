#include "headlight/nn/folding_model.h"

#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/protein/alignment_features.h"

namespace headlight {

FoldingFeatures FeaturesForModel(const AlignmentFeatures& drawn, std::vector<std::int32_t> places) {
  if (places.empty()) {
    places.resize(drawn.types.size());
    std::iota(places.begin(), places.end(), 0);
  }
  return {.types = drawn.types,
          .places = std::move(places),
          .target = drawn.target,
          .alignment = drawn.alignment,
          .present = {},
          .extra = drawn.extra};
}

FoldingOutputs FoldingModel::Fold(Context& context, std::span<const FoldingFeatures> passes) const {
  Check(!passes.empty(), "{}: no pass over a chain", parameters().source());
  FoldingOutputs outputs;
  const FoldingOutputs* before = nullptr;
  for (const FoldingFeatures& features : passes.first(passes.size() - 1)) {
    context.NextDropout(0);  // so that each pass has other random numbers
    Context early = context;
    early.tape = nullptr;
    early.sink = {};
    early.residue_sink = {};
    outputs = Pass(early, features, before);
    before = &outputs;
  }
  return Pass(context, passes.back(), before);
}

}  // namespace headlight
