// Sigmoid gates.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns x * sigmoid(gate), elementwise, with gate [rows, columns]. x has the same shape or, for several gates per
/// row, is [rows / times, columns] and is repeated. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor Gate(const Tensor& x, const Tensor& gate);

}  // namespace headlight::ops
