// Dropout of the elements of a matrix (Srivastava et al., "Dropout", 2014), with or without a residual connection. The
// mask is a function of (seed, row, column) and is not stored: the backward pass recomputes it. T is float or double.
#pragma once

#include "headlight/base/matrix.h"
#include "headlight/kernels/dropout_hash.h"

namespace headlight::kernels {

/// Computes y = x / (1 - probability) for kept elements, and 0 for dropped elements, even for NaN. y may be x. The
/// gradient is d_x = DropoutRows(d_y).
template <typename T>
void DropoutRows(Matrix<const T> x, Dropout dropout, Matrix<T> y);

/// Computes y = x + dropout(sublayer). y may be x or sublayer. The gradients are d_y and DropoutRows(d_y).
template <typename T>
void ResidualRows(Matrix<const T> x, Matrix<const T> sublayer, Dropout dropout, Matrix<T> y);

}  // namespace headlight::kernels
