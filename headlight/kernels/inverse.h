// The inverse of symmetric positive definite matrices, computed with tiled products.
#pragma once

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Replaces the symmetric positive definite matrix a [n, n] with its inverse. Takes 2 n^3 float32 operations and memory
/// for 192 n elements. Throws Error if a pivot is not positive.
HEADLIGHT_API void InvertPositive(Matrix<float> a);

}  // namespace headlight::kernels
