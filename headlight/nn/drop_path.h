// Stochastic depth (Huang et al., "Deep Networks with Stochastic Depth", 2016).
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"

namespace headlight {

/// Applies stochastic depth to `change` [tokens, model], the output of a sublayer before the residual sum. In training,
/// the output of randomly chosen examples is set to zero, and other examples are divided by the keep probability. The
/// drop probability grows linearly from 0 in layer 0 to TrainingPass::drop_path in layer `layers` - 1. Outside
/// training, returns `change`.
HEADLIGHT_API Tensor DropPath(Context& context, const Tensor& change, const Sequences& examples, int layer, int layers);

}  // namespace headlight
