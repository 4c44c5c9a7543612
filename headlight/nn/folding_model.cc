#include "headlight/nn/folding_model.h"

#include "headlight/base/error.h"

namespace headlight {

FoldingOutputs FoldingModel::Fold(Context& context, std::span<const FoldingFeatures> passes) const {
  Check(!passes.empty(), "{}: no pass over a chain", parameters().source());
  FoldingOutputs outputs;
  const FoldingOutputs* before = nullptr;
  for (const FoldingFeatures& features : passes.first(passes.size() - 1)) {
    context.NextDropout(0);  // so that each pass has other random numbers
    Context early = context;
    early.tape = nullptr;
    early.sink = {};
    outputs = Pass(early, features, before);
    before = &outputs;
  }
  return Pass(context, passes.back(), before);
}

}  // namespace headlight
