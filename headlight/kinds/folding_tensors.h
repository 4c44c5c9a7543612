// The outputs of a structure prediction model without alignment, named as in EsmForProteinFolding of Transformers.
#pragma once

#include <cstddef>
#include <vector>

#include "headlight/kinds/forward_tensors.h"
#include "headlight/protein/nn/folding_features.h"

namespace headlight {

/// Adds the outputs of one chain to those of a padded batch; padding is 0. `lddt` holds the logits of per-atom lDDT for
/// each block of the structure module, [residues, 37 * bins]. Shapes are those of Transformers, except that `ptm` is
/// [batch]; integers are int32.
void AddFoldingTensors(const FoldingFeatures& features, const FoldingOutputs& made, const std::vector<Tensor>& lddt,
                       const Padded& chains, std::size_t chain, NamedTensors& out);

}  // namespace headlight
