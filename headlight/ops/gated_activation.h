// The gated activation of a feed-forward network (Shazeer, "GLU Variants Improve Transformer", 2020).
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/activation.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Selects the half of the columns that is the gate.
enum class GateHalf { first, second };

/// Returns activation(gate) * x, elementwise, of shape [rows, ffn]. The gate and x are the halves of the columns of
/// `both` [rows, 2 * ffn].
HEADLIGHT_API Tensor GatedActivation(Activation activation, const Tensor& both, GateHalf gate = GateHalf::first);

}  // namespace headlight::ops
