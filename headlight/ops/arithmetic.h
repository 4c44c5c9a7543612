// Sums and products, element by element.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// a + b and a * b, broadcast as NumPy does: shapes are aligned at their last axes, and an axis that is missing or 1 in
// one of them is repeated, as a vector [columns] is for each row of [..., columns]. The gradient of what is repeated is
// summed. Throw Error where the shapes do not fit or the types differ.
HEADLIGHT_API Tensor Add(const Tensor& a, const Tensor& b);
HEADLIGHT_API Tensor Multiply(const Tensor& a, const Tensor& b);

// factor * x
HEADLIGHT_API Tensor Scale(const Tensor& x, double factor);

// [1]: the sum of all elements.
HEADLIGHT_API Tensor Sum(const Tensor& x);

}  // namespace headlight::ops
