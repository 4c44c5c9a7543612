#include "headlight/kinds/folding_model.h"

#include "headlight/base/error.h"
#include "headlight/protein/residues.h"

namespace headlight {

void FoldingModel::CheckChain(const FoldingFeatures& features, const FoldingOutputs* before) const {
  const std::int64_t residues = std::ssize(features.types);
  Check(residues >= 1 && residues == std::ssize(features.positions), "{}: {} residues at {} positions",
        parameters().source(), residues, features.positions.size());
  for (const std::int32_t type : features.types)
    Check(type >= 0 && type < kResidueTypes, "{}: residue type {} of {}", parameters().source(), type, kResidueTypes);
  Check(before == nullptr || before->pair.rows() == residues * residues,
        "{}: {} residues, but the pass before had {} pairs", parameters().source(), residues,
        before == nullptr ? 0 : before->pair.rows());
}

FoldingOutputs FoldingModel::Fold(Context& context, std::span<const FoldingFeatures> passes) const {
  Check(!passes.empty(), "{}: no pass over a chain", parameters().source());
  FoldingOutputs outputs;
  const FoldingOutputs* before = nullptr;
  for (const FoldingFeatures& features : passes.first(passes.size() - 1)) {
    context.NextDropout(0);  // each pass uses different dropout masks
    Context early = context;
    early.tape = nullptr;
    early.hooks.attention = {};
    early.hooks.residues = {};
    outputs = Pass(early, features, before);
    before = &outputs;
  }
  return Pass(context, passes.back(), before);
}

}  // namespace headlight
