// Gates: how much of a number passes is computed, too.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// x * sigmoid(gate), element by element: gate [rows, columns], x of the same shape or, to pass through several gates,
// [rows / times, columns]: row r is x's row r modulo its rows times its gate. Throws Error where the shapes do not fit.
HEADLIGHT_API Tensor Gate(const Tensor& x, const Tensor& gate);

}  // namespace headlight::ops
