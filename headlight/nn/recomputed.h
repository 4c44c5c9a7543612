// Gradient checkpointing for batches whose activations exceed the memory: activations are recomputed in the backward
// pass (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/context.h"

namespace headlight {

/// Concatenates the rows of compute(context, begin, end) over chunks of `count` examples, for example image embeddings
/// for a contrastive loss over the whole batch (Gao et al., "Scaling Deep Contrastive Learning Batch Size under Memory
/// Limited Setup", 2021). Chunks have at most `at_once` examples and similar sizes. In a pass with a tape, each chunk
/// is computed twice, and only one chunk's activations exist at a time. A single chunk is computed once, as by a direct
/// call. Each chunk has separate dropout masks, which are the same both times. `compute` must be deterministic. Throws
/// Error if count or at_once is less than 1.
HEADLIGHT_API Tensor
Recomputed(Context& context, std::int64_t count, std::int64_t at_once,
           const std::function<Tensor(Context& context, std::int64_t begin, std::int64_t end)>& compute);

/// Returns compute(context, inputs), for example the outputs of a block, with gradient checkpointing. In a pass with a
/// tape, the block is computed twice, and only the outputs are kept in between. The inputs may be on the tape. Dropout
/// masks are the same both times. Attention hooks are called only the first time. `compute` is kept until the tape's
/// Backward or Clear.
HEADLIGHT_API std::vector<Tensor> RecomputedBlock(
    Context& context, const std::vector<Tensor>& inputs,
    const std::function<std::vector<Tensor>(Context& context, const std::vector<Tensor>& inputs)>& compute);

}  // namespace headlight
