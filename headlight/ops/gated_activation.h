// The gate of a feed-forward network (Shazeer, "GLU Variants Improve Transformer", 2020).
#pragma once

#include "headlight/base/export.h"
#include "headlight/kernels/activation.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Which half of the columns is the gate.
enum class GateHalf { first, second };

/// activation(gate) * x, elementwise. `both` [rows, 2 * ffn] holds gate and x as halves of its columns; returns [rows,
/// ffn].
HEADLIGHT_API Tensor GatedActivation(Activation activation, const Tensor& both, GateHalf gate = GateHalf::first);

}  // namespace headlight::ops
