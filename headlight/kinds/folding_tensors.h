// Converts outputs of structure prediction without an alignment to tensors named as in Transformers'
// EsmForProteinFolding.
#pragma once

#include <cstddef>
#include <vector>

#include "headlight/kinds/forward_tensors.h"
#include "headlight/protein/nn/folding_features.h"

namespace headlight {

/// Adds the outputs of one chain to the outputs of a padded batch, in which padding is 0. `lddt` has the logits of
/// per-atom lDDT for each block of the structure module, [residues, 37 * bins]. Shapes are as in Transformers, except
/// that `ptm` is [batch]. Integers are int32.
void AddFoldingTensors(const FoldingFeatures& features, const FoldingOutputs& made, const std::vector<Tensor>& lddt,
                       const Padded& chains, std::size_t chain, NamedTensors& out);

}  // namespace headlight
