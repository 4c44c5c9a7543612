// Batches larger than memory: parts of a pass whose activations are not kept but computed again on the way back (Chen
// et al., "Training Deep Nets with Sublinear Memory Cost", 2016).
#pragma once

#include <cstdint>
#include <functional>

#include "headlight/base/export.h"
#include "headlight/nn/context.h"

namespace headlight {

// The rows that compute(context, part) gives for each of so many parts, one part after another, such as the vectors of
// pictures for a loss that compares them all (Gao et al., "Scaling Deep Contrastive Learning Batch Size under Memory
// Limited Setup", 2021). In a pass with a tape every part is computed twice, and only one part's activations exist at a
// time; one part alone is computed once, as if this were not there. Each part has dropout of its own, the same both
// times. `compute` gives the same for the same part.
HEADLIGHT_API Tensor Recomputed(Context& context, std::int64_t parts,
                                const std::function<Tensor(Context& context, std::int64_t part)>& compute);

}  // namespace headlight
