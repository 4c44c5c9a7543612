// Stochastic depth (Huang et al., "Deep Networks with Stochastic Depth", 2016).
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"

namespace headlight {

// A sublayer's change [tokens, model], before it is added to its input. In training it is left out for some of the
// examples: with a probability that grows linearly from 0 in layer 0 to Context::drop_path in the last of `layers`; of
// the others it is divided by the probability of staying. Elsewhere it is as it was.
HEADLIGHT_API Tensor DropPath(Context& context, const Tensor& change, const Sequences& examples, int layer, int layers);

}  // namespace headlight
