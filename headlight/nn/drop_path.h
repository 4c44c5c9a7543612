// Stochastic depth (Huang et al., "Deep Networks with Stochastic Depth", 2016).
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"

namespace headlight {

// A sublayer's change [tokens, model], before it is added to its input. In training it is skipped for some of the
// examples: with a probability that grows linearly from 0 in layer 0 to TrainingPass::drop_path in the last of
// `layers`; for the others it is divided by the probability of being kept. Outside of training it is unchanged.
HEADLIGHT_API Tensor DropPath(Context& context, const Tensor& change, const Sequences& examples, int layer, int layers);

}  // namespace headlight
