// Batches larger than memory: parts of a pass whose activations are not kept but computed again on the way back (Chen
// et al., "Training Deep Nets with Sublinear Memory Cost", 2016).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/context.h"

namespace headlight {

// The rows that compute(context, begin, end) gives for the parts of `count` examples, one part after another, such as
// the vectors of images for a loss that compares them all (Gao et al., "Scaling Deep Contrastive Learning Batch Size
// under Memory Limited Setup", 2021). Parts are of at most `at_once` examples, and alike in size. In a pass with a tape
// every part is computed twice, and only one part's activations exist at a time; one part alone is computed once, as if
// this were not there. Each part has dropout of its own, the same both times. `compute` gives the same for the same
// part. Throws Error where count or at_once is less than 1.
HEADLIGHT_API Tensor
Recomputed(Context& context, std::int64_t count, std::int64_t at_once,
           const std::function<Tensor(Context& context, std::int64_t begin, std::int64_t end)>& compute);

// The results of compute(context, inputs), such as a block's outputs. In a pass with a tape it is computed twice, and
// of its activations only the outputs are kept between: the inputs may be on the tape. Dropout is the same both times,
// and the context's sinks receive the attention of the first. `compute` is called until the tape is walked back or
// cleared.
HEADLIGHT_API std::vector<Tensor> RecomputedBlock(
    Context& context, const std::vector<Tensor>& inputs,
    const std::function<std::vector<Tensor>(Context& context, const std::vector<Tensor>& inputs)>& compute);

}  // namespace headlight
