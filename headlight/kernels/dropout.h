// Dropout of the elements of a matrix (Srivastava et al., "Dropout", 2014), alone and in a residual connection. The
// mask is a function of (seed, row, column) and is not stored: the gradient recomputes it. T is float or double.
#pragma once

#include "headlight/base/matrix.h"
#include "headlight/kernels/dropout_hash.h"

namespace headlight::kernels {

// y = x where kept, scaled by 1 / (1 - probability), 0 where dropped, even of NaN. y may be x. Its gradient is itself:
// d_x = DropoutRows(d_y).
template <typename T>
void DropoutRows(Matrix<const T> x, Dropout dropout, Matrix<T> y);

// y = x + dropout(sublayer). y may be x or sublayer. The gradients are d_y and DropoutRows(d_y).
template <typename T>
void ResidualRows(Matrix<const T> x, Matrix<const T> sublayer, Dropout dropout, Matrix<T> y);

}  // namespace headlight::kernels
