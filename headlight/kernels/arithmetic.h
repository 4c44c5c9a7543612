// Sums and products of matrices, element by element, and sums down their columns. T is float or double; y may be an
// operand.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight::kernels {

// y = a + b
template <typename T>
void AddRows(Matrix<const T> a, Matrix<const T> b, Matrix<T> y);

// y = a * b
template <typename T>
void MultiplyRows(Matrix<const T> a, Matrix<const T> b, Matrix<T> y);

// y = factor * x
template <typename T>
void ScaleRows(Matrix<const T> x, double factor, Matrix<T> y);

// y = x + vector in every row; vector has as many elements as a row.
template <typename T>
void AddVectorToRows(Matrix<const T> x, const T* vector, Matrix<T> y);

// sums[column] += the sum of x's column, such as the gradient of a bias. The same bits at any number of threads.
template <typename T>
void AddColumnSums(Matrix<const T> x, T* sums);

}  // namespace headlight::kernels
