// headlight forward for models of protein structures.
#pragma once

#include <string>

#include "headlight/cli/forward_tensors.h"

namespace headlight {

// The features of an AlphaFold under OpenFold's names, each with a last axis of the passes, and its outputs under
// theirs: aatype, residue_index, target_feat, msa_feat, msa_mask, extra_msa, extra_has_deletion, extra_deletion_value
// and those of templates, to msa, pair, single, final_atom_positions, the structure module's as sm.frames and so on,
// and the heads' logits.
NamedTensors ForwardFolding(const Safetensors& in, const std::string& folder);

}  // namespace headlight
