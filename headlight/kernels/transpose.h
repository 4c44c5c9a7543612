// Transposed copies of matrices. T is float or double.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Computes y = x^T, on the calling thread only.
template <typename T>
void TransposeBlock(Matrix<const T> x, Matrix<T> y);

/// Computes y = x^T.
template <typename T>
void Transpose(Matrix<const T> x, Matrix<T> y);

}  // namespace headlight::kernels
