// The inverse of symmetric positive definite matrices, by products of tiles.
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight::kernels {

// Replaces a, [n, n], symmetric and positive definite, by its inverse: 2 n^3 operations, in float32, and memory for n
// times 192 numbers more. Throws Error where a pivot is not positive.
HEADLIGHT_API void InvertPositive(Matrix<float> a);

}  // namespace headlight::kernels
