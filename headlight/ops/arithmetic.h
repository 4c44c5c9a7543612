// Sums and products, element by element.
#pragma once

#include "headlight/base/export.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

// a + b and a * b, of two tensors of one shape. Throw Error where the shapes differ.
HEADLIGHT_API Tensor Add(const Tensor& a, const Tensor& b);
HEADLIGHT_API Tensor Multiply(const Tensor& a, const Tensor& b);

// factor * x
HEADLIGHT_API Tensor Scale(const Tensor& x, double factor);

// x [..., columns] + vector [columns] in every row. Throws Error where they do not fit.
HEADLIGHT_API Tensor AddVector(const Tensor& x, const Tensor& vector);

// [1]: the sum of all elements.
HEADLIGHT_API Tensor Sum(const Tensor& x);

}  // namespace headlight::ops
