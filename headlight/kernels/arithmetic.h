// Elementwise sums and products of matrices, and column sums. T is float or double; y may be one of the operands. In
// AddRows and MultiplyRows, one operand may have a single column, and any operand may repeat one row (a stride of 0).
#pragma once

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Computes y = a + b.
template <typename T>
void AddRows(Matrix<const T> a, Matrix<const T> b, Matrix<T> y);

/// Computes y = a * b elementwise.
template <typename T>
void MultiplyRows(Matrix<const T> a, Matrix<const T> b, Matrix<T> y);

/// Computes y = factor * x.
template <typename T>
void ScaleRows(Matrix<const T> x, double factor, Matrix<T> y);

/// Computes sums[column] += the sum of that column of x, for example the gradient of a bias. The result has the same
/// bits for any number of threads.
template <typename T>
void AddColumnSums(Matrix<const T> x, T* sums);

}  // namespace headlight::kernels
