// Softmax along rows: y[i] = exp(x[i]) / sum of exp(x). T is float or double; results may overwrite inputs. An input of
// -infinity has the result 0. A row with NaN or +infinity, or with only -infinity, becomes NaN.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight::kernels {

template <typename T>
void SoftmaxRows(Matrix<const T> x, Matrix<T> y);

/// Computes d_x = y * (d_y - sum of (y * d_y)) from the result y.
template <typename T>
void SoftmaxRowsGradient(Matrix<const T> y, Matrix<const T> d_y, Matrix<T> d_x);

}  // namespace headlight::kernels
