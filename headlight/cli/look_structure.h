// `look` with models of protein structures.
#pragma once

#include "headlight/cli/look_models.h"

namespace headlight {

// How the model folds the query of options.msa, or of options.sequence: pages, and drawings with the attention of
// options.residue.
void LookAtStructure(const LookOptions& options);

}  // namespace headlight
