// Root mean square layer normalization along rows (Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019,
// eq. 4). T is float or double; gain has one element per column. A row with NaN or infinity becomes NaN.
#pragma once

#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Computes y = x / rms * gain, with rms = sqrt(mean of x^2 + epsilon). y may be x. inverse_rms[rows] is saved for the
/// backward pass; it may be null if there is no backward pass.
template <typename T>
void RmsNormRows(Matrix<const T> x, const T* gain, double epsilon, Matrix<T> y, T* inverse_rms);

/// Writes d_x, which may be d_y, and adds to d_gain.
template <typename T>
void RmsNormRowsGradient(Matrix<const T> x, const T* gain, const T* inverse_rms, Matrix<const T> d_y, Matrix<T> d_x,
                         T* d_gain);

}  // namespace headlight::kernels
