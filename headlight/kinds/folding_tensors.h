// The outputs of a model that folds a sequence alone, as Transformers' EsmForProteinFolding names them.
#pragma once

#include <cstddef>
#include <vector>

#include "headlight/kinds/forward_tensors.h"
#include "headlight/protein/nn/folding_features.h"

namespace headlight {

/// Adds the outputs of one chain to those of a padded batch, where they are zero for padding. `lddt`: of each block of
/// the structure module the logits of the atoms' lDDT, [residues, 37 * bins]. The shapes are Transformers', but `ptm`
/// is [batch]; integers are int32.
void AddFoldingTensors(const FoldingFeatures& features, const FoldingOutputs& made, const std::vector<Tensor>& lddt,
                       const Padded& chains, std::size_t chain, NamedTensors& out);

}  // namespace headlight
