// Building blocks of batch norm and group norm, whose statistics are per column: sums over rows, and an affine function
// that is the same for every row. T is float or double. Results have the same bits for any number of threads.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Computes sums[column] += the sum over rows of (x - center[column])^2.
template <typename T>
void AddSquaredDeviations(Matrix<const T> x, const T* center, T* sums);

/// Computes sums[column] += the sum over rows of (x - center[column]) * d_y.
template <typename T>
void AddDeviationProducts(Matrix<const T> x, const T* center, Matrix<const T> d_y, T* sums);

/// Computes y = factor[column] * x + offset[column].
template <typename T>
void ScaleAndShiftRows(Matrix<const T> x, const T* factor, const T* offset, Matrix<T> y);

/// Computes y = factor_a[column] * a + factor_b[column] * b + offset[column].
template <typename T>
void CombineRows(Matrix<const T> a, const T* factor_a, Matrix<const T> b, const T* factor_b, const T* offset,
                 Matrix<T> y);

}  // namespace headlight::kernels
