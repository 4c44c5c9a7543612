// Sigmoid gates.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Returns x * sigmoid(gate), elementwise. gate is [rows, columns]. x has the same shape, or is [rows / times, columns]
/// and is repeated for several gates per row. Throws Error if shapes do not fit.
HEADLIGHT_API Tensor Gate(const Tensor& x, const Tensor& gate);

}  // namespace headlight::ops
